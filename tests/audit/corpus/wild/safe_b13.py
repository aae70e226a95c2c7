from pyspark.sql import functions as F
def build(df):
    keyed = df.withColumn("order_key", F.sha2(F.concat_ws("||", F.col("src"), F.col("order_no")), 256))
    keyed.write.format("delta").mode("overwrite").saveAsTable("gold.orders")
