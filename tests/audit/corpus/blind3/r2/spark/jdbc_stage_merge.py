import psycopg2
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
URL = "jdbc:postgresql://db/dw"

df = spark.table("silver.accounts").dropDuplicates(["account_id"])
df.write.format("jdbc").option("url", URL).option("dbtable", "stage.accounts").option("truncate", "true").mode("overwrite").save()

conn = psycopg2.connect("dbname=dw")
with conn, conn.cursor() as cur:
    cur.execute("""
        INSERT INTO public.accounts (account_id, name)
        SELECT account_id, name FROM stage.accounts
        ON CONFLICT (account_id) DO UPDATE SET name = excluded.name
    """)
conn.close()