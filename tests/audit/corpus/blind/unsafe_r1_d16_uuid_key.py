from pyspark.sql import SparkSession
from pyspark.sql.functions import expr

spark = SparkSession.builder.getOrCreate()
# expect: SW302
leads = spark.read.csv("s3://in/leads.csv", header=True).withColumn("lead_id", expr("uuid()"))
leads.createOrReplaceTempView("leads")
spark.sql("""
MERGE INTO crm.leads t USING leads s ON t.lead_id = s.lead_id
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
""")
