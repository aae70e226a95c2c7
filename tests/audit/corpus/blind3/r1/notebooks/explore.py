# Databricks notebook source
# MAGIC %md
# MAGIC # Explore

# COMMAND ----------
dbutils.widgets.text("day", "2024-01-01")
day = dbutils.widgets.get("day")

# COMMAND ----------
# MAGIC %sql
# MAGIC MERGE INTO silver.users t USING (SELECT id, max(name) name FROM bronze.users GROUP BY id) s ON t.id = s.id
# MAGIC WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT *

# COMMAND ----------
spark.sql(f"INSERT INTO gold.daily REPLACE WHERE day = '{day}' SELECT day, count(*) FROM silver.events WHERE day = '{day}' GROUP BY day")

# COMMAND ----------
# MAGIC %sql
# MAGIC COPY INTO bronze.users FROM '/landing/users' FILEFORMAT = JSON

# COMMAND ----------
display(spark.table("gold.daily").limit(10))
spark.table("silver.events").limit(1000).write.mode("overwrite").saveAsTable("scratch.sample")