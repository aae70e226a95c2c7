from delta.tables import DeltaTable


def upsert(spark, path):
    updates = spark.read.json(path)
    target = DeltaTable.forPath(spark, "/lake/silver/users")
    # expect: SW301
    (
        target.alias("t")
        .merge(updates.alias("s"), "t.user_id = s.user_id")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute()
    )
