from pyspark.sql import SparkSession

spark = SparkSession.builder.enableHiveSupport().getOrCreate()
spark.read.json("s3://raw/shops").createOrReplaceTempView("shops")
spark.sql("CREATE OR REPLACE TABLE gold.shops USING delta AS SELECT DISTINCT shop_id, name FROM shops")
spark.sql("ANALYZE TABLE gold.shops COMPUTE STATISTICS")
