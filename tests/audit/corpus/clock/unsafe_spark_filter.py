from pyspark.sql import functions as F


def load(spark):
    df = spark.table("bronze.orders").filter(F.col("updated_at") >= F.date_sub(F.current_date(), 1))  # expect: SW401
    df.write.format("delta").mode("append").saveAsTable("silver.orders")  # expect: SW101
