# Databricks notebook source
# MAGIC %md
# MAGIC # Orders

# COMMAND ----------

day = dbutils.widgets.get("day")
df = spark.read.json(f"/mnt/raw/orders/{day}")
df.write.mode("overwrite").option("replaceWhere", f"order_date = '{day}'").saveAsTable("silver.orders")

# COMMAND ----------

# MAGIC %sql
# MAGIC SELECT count(*) FROM silver.orders
