from pyspark.sql import SparkSession

spark = SparkSession.builder.enableHiveSupport().getOrCreate()
df = spark.table("ods.logins").filter("dt = '2024-05-01'")
# expect: SW101
df.write.insertInto("dw.logins")
