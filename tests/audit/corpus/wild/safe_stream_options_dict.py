opts = {"checkpointLocation": "/c/x", "mergeSchema": "true"}
def run(spark):
    spark.readStream.table("a").writeStream.options(**opts).toTable("b")
