from pyspark.sql.functions import col, monotonically_increasing_id


def build(df):
    df = df.withColumn("row_id", monotonically_increasing_id())  # expect: SW302
    df.write.format("delta").mode("overwrite").save("/gold/rows")
