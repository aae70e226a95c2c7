import psycopg2

conn = psycopg2.connect("dbname=dwh")
with conn, conn.cursor() as cur, open("a.csv") as handle:
    cur.execute("CREATE TEMPORARY TABLE incoming (LIKE crm.contacts)")
    cur.copy_from(handle, "incoming", sep=",")
    cur.execute("UPDATE crm.contacts c SET name = i.name FROM incoming i WHERE i.id = c.id")
    cur.execute("INSERT INTO crm.contacts SELECT * FROM incoming i WHERE NOT EXISTS (SELECT 1 FROM crm.contacts c WHERE c.id = i.id)")
