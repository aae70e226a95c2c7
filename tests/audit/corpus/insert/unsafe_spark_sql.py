from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()


def load(ds):
    # expect: SW102
    spark.sql(f"""
        INSERT INTO analytics.daily_users
        SELECT '{ds}' AS ds, country, count(distinct user_id)
        FROM events WHERE ds = '{ds}' GROUP BY country
    """)
