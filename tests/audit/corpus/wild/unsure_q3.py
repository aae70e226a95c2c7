import os
def process(spark, path, marker):
    if os.path.exists(marker):
        return
    spark.read.json(path).write.mode("append").saveAsTable("b.t")  # expect: SW101 note
    open(marker, "w").close()
