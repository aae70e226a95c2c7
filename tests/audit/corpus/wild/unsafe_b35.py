from pyspark.sql import functions as F
def dedupe(df):
    return df.dropDuplicates(["kafka_partition", "kafka_offset"])  # expect: SW306
def run(spark):
    d = dedupe(spark.table("raw.k"))
    d.write.format("delta").mode("overwrite").saveAsTable("clean.k")
