def process(spark, files, processed):
    for f in files:
        if f in processed:
            continue
        spark.read.json(f).write.mode("append").saveAsTable("b.t")  # expect: SW101 note
