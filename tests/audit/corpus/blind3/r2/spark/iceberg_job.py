import sys
from pyspark.sql import SparkSession, functions as F


class Job:
    def __init__(self, day):
        self.spark = SparkSession.builder.appName("ice").getOrCreate()
        self.day = day

    def source(self):
        return self.spark.read.json(f"s3://raw/orders/dt={self.day}").withColumn("dt", F.lit(self.day))

    def replace(self):
        self.source().writeTo("lake.orders").overwritePartitions()  # expect: SW204

    def replace_filter(self):
        self.source().writeTo("lake.orders2").overwrite(F.col("dt") == self.day)

    def create(self):
        self.source().writeTo("lake.orders_latest").using("iceberg").createOrReplace()

    def add(self):
        self.source().writeTo("lake.orders_all").append()  # expect: SW101

    def run(self):
        self.replace()
        self.replace_filter()
        self.create()
        self.add()


if __name__ == "__main__":
    Job(sys.argv[1]).run()