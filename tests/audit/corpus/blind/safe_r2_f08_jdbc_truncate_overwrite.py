from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
top = spark.table("gold.top").orderBy("rank")
top.show(20)
top.toPandas().to_excel("top.xlsx")
spark.sql("SELECT * FROM gold.top LIMIT 5").show()
spark.catalog.refreshTable("gold.top")
