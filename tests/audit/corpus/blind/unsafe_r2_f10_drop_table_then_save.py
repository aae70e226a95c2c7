from pyspark.sql import SparkSession

spark = SparkSession.builder.enableHiveSupport().getOrCreate()
# expect: SW202
spark.sql("DROP TABLE IF EXISTS mart.segments")
spark.sql("CREATE TABLE mart.segments STORED AS PARQUET AS SELECT user_id, segment FROM core.users")
