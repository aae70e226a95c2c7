def store(spark, checks):
    rows = spark.createDataFrame(checks)
    rows.write.format("delta").mode("append").saveAsTable("ops.dq_visits_results")
    rows.write.format("delta").mode("append").saveAsTable("governance.data_quality_metrics")
