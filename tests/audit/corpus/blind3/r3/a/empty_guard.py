from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()


def already_loaded(table, batch):
    return spark.table(table).where(f"batch_id = '{batch}'").limit(1).count() > 0


def run(batch):
    if already_loaded("silver.tx", batch):
        print("nothing to do")
        return
    spark.read.json(f"/in/{batch}").selectExpr("*", f"'{batch}' AS batch_id").write.format("delta").mode("append").saveAsTable("silver.tx")