def publish(spark, day):
    spark.conf.set("hive.exec.dynamic.partition.mode", "nonstrict")
    df = spark.table("staging.clicks").where(f"ds = '{day}'")
    df.write.insertInto("analytics.clicks")  # expect: SW101
