import argparse
from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--date", required=True)
    date = parser.parse_args().date
    spark = SparkSession.builder.getOrCreate()
    out = spark.table("bronze.trips").where(F.col("trip_date") == date).groupBy("trip_date", "zone").agg(F.sum("fare").alias("fare"))
    out.write.format("delta").mode("overwrite").option("replaceWhere", f"trip_date = '{date}'").saveAsTable("gold.trips")


if __name__ == "__main__":
    main()
