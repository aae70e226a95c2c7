def save(spark, df):
    if spark.catalog.tableExists("core.visits_seen"):
        df.write.mode("append").format("delta").saveAsTable("core.visits")  # expect: SW101
    else:
        df.write.mode("overwrite").format("delta").saveAsTable("core.visits")
