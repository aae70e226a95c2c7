from airflow.sdk import Asset, asset, dag, task

orders = Asset("s3://lake/orders")


@asset(schedule="@daily", uri="s3://lake/orders_clean")
def orders_clean(context):
    import pandas as pd

    day = context["logical_date"].date().isoformat()
    frame = pd.read_parquet(f"s3://lake/orders/day={day}/part.parquet")
    frame.drop_duplicates(["order_id"]).to_parquet(f"s3://lake/orders_clean/day={day}.parquet")


@dag(schedule=[orders])
def downstream():
    @task
    def count():
        print("orders arrived")

    count()


downstream()
