from django.db import connection, transaction


def rebuild():
    with transaction.atomic():
        with connection.cursor() as cur:
            cur.execute("DELETE FROM search_index")
            cur.execute("INSERT INTO search_index SELECT id, title FROM articles")
