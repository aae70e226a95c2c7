def write(spark, df, table):
    if spark.catalog.tableExists(table):
        from delta.tables import DeltaTable

        t = DeltaTable.forName(spark, table)
        (t.alias("t").merge(df.dropDuplicates(["id"]).alias("s"), "t.id = s.id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute())
    else:
        df.write.format("delta").saveAsTable(table)
