from pyspark.sql import SparkSession
from pyspark.sql.functions import col, current_date, date_sub

spark = SparkSession.builder.getOrCreate()
# expect: SW401
df = spark.table("raw.orders").filter(col("order_date") == date_sub(current_date(), 1))
# expect: SW101
df.write.format("delta").mode("append").saveAsTable("core.orders")
