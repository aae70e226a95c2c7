from delta.tables import DeltaTable

def merge(spark, daily):
    # expect: SW105, SW301 note
    (DeltaTable.forName(spark, "mart.totals").alias("t").merge(daily.groupBy("id").sum("n").alias("s"), "t.id = s.id")
        .whenMatchedUpdate(set={"n": "t.n + s.n"}).whenNotMatchedInsertAll().execute())
