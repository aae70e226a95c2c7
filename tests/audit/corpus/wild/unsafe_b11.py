from pyspark.sql import SparkSession
spark = SparkSession.builder.config("spark.sql.sources.partitionOverwriteMode", "dynamic").getOrCreate()
def publish(day):
    df = spark.sql(f"SELECT * FROM staging WHERE day = '{day}'")
    df.write.mode("overwrite").insertInto("gold.events")  # expect: SW204
