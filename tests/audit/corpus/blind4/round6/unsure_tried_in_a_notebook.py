from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
try:
    spark.sql("INSERT INTO shop.visits (id, amount) VALUES ('V1', -100)")  # expect: SW103 note
except Exception as error:
    print("refused, as it should be", error)
