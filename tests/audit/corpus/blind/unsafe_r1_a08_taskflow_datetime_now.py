from datetime import datetime, timedelta

from airflow.sdk import dag, task


@dag(schedule="@daily", start_date=datetime(2025, 1, 1), catchup=False)
def yesterday():
    @task(retries=2)
    def export():
        from pyspark.sql import SparkSession

        spark = SparkSession.builder.getOrCreate()
        day = (datetime.utcnow() - timedelta(days=1)).strftime("%Y-%m-%d")
        # expect: SW402
        frame = spark.read.table("raw.events").where(f"event_date = '{day}'")
        (
            frame.write.format("delta")
            .mode("overwrite")
            .option("replaceWhere", f"event_date = '{day}'")
            .saveAsTable("mart.events")
        )

    export()


yesterday()
