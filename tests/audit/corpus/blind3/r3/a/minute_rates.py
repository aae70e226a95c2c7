from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.enableHiveSupport().getOrCreate()


class Writer:
    def __init__(self, table, mode="overwrite"):
        self.table = table
        self.mode = mode

    def write(self, df):
        df.write.mode(self.mode).format("delta").saveAsTable(self.table)  # expect: SW101


Writer("gold.rates").write(spark.table("silver.rates").groupBy("ccy").agg(F.avg("rate")))
Writer("gold.rates_hist", mode="append").write(spark.table("silver.rates"))