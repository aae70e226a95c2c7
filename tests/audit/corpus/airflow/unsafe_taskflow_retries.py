import pandas as pd
from airflow.decorators import dag, task
from sqlalchemy import create_engine


@dag(schedule="@daily")
def weather():
    @task(retries=5)  # expect: SW501
    def load():
        df = pd.read_json("https://example.org/weather.json")
        df.to_sql("weather", create_engine("postgresql://db/dw"), if_exists="append")  # expect: SW101

    load()


weather()
