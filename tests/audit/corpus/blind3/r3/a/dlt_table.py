import dlt
from pyspark.sql import functions as F


@dlt.table(comment="bronze")
def bronze():
    return spark.readStream.format("cloudFiles").option("cloudFiles.format", "json").load("/in")


@dlt.table
def silver():
    return dlt.read_stream("bronze").withColumn("loaded", F.current_timestamp())