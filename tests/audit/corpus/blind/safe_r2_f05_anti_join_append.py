from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
seen = spark.table("core.tickets").select("ticket_id")
new = spark.read.json("/landing/tickets").dropDuplicates(["ticket_id"]).join(seen, "ticket_id", "left_anti")
new.write.format("delta").mode("append").saveAsTable("core.tickets")
