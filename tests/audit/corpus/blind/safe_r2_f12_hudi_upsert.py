from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
options = {
    "hoodie.table.name": "trips",
    "hoodie.datasource.write.recordkey.field": "uuid",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.operation": "upsert",
}
spark.read.json("/landing/trips").write.format("hudi").options(**options).mode("append").save("/lake/trips")
