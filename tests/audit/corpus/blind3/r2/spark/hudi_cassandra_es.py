from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
df = spark.read.parquet("s3://x/y")

HUDI = {
    "hoodie.table.name": "users",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.operation": "upsert",
}
df.write.format("hudi").options(**HUDI).mode("append").save("s3://lake/users")
df.write.format("org.apache.spark.sql.cassandra").options(table="users", keyspace="app").mode("append").save()
df.write.format("org.elasticsearch.spark.sql").option("es.mapping.id", "id").mode("append").save("users")
df.write.format("mongodb").option("collection", "users").option("operationType", "replace").option("idFieldList", "id").mode("append").save()
df.write.format("bigquery").option("table", "p.d.users_log2").mode("append").save()  # expect: SW101