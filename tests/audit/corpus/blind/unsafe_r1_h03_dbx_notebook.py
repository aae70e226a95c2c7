# Databricks notebook source
dbutils.widgets.text("day", "")
day = dbutils.widgets.get("day")

# COMMAND ----------

df = spark.read.parquet(f"/mnt/raw/invoices/{day}")
df.createOrReplaceTempView("invoices_day")

# COMMAND ----------

# MAGIC %sql
# MAGIC SELECT count(*) FROM invoices_day

# COMMAND ----------

mode = "append" if day else "overwrite"
# expect: SW101
df.write.format("delta").mode("append").saveAsTable("silver.invoices")
