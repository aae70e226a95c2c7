# Databricks notebook source
day = dbutils.widgets.get("day")
df = spark.read.json(f"/mnt/raw/orders/{day}")
df.write.mode("append").saveAsTable("bronze.orders")  # expect: SW101

# COMMAND ----------

# MAGIC %sql
# MAGIC -- expect: SW102
# MAGIC INSERT INTO gold.revenue
# MAGIC SELECT order_date, sum(amount) FROM bronze.orders GROUP BY order_date
