import psycopg2


def stage(handle):
    connection = psycopg2.connect("dbname=shop")
    # expect: SW101
    connection.cursor().copy_expert("COPY core.visits (shop_id, seen_at) FROM STDIN WITH (FORMAT csv)", handle)
    connection.commit()
