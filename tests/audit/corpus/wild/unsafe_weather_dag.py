from datetime import datetime, timedelta
import json
import pandas as pd
from airflow import DAG
from airflow.providers.http.operators.http import SimpleHttpOperator
from airflow.operators.python import PythonOperator


def transform_load_data(task_instance):
    data = task_instance.xcom_pull(task_ids="extract_weather_data")
    df_data = pd.DataFrame([{"City": data["name"]}])
    now = datetime.now()
    dt_string = "current_weather_data_portland_" + now.strftime("%d%m%Y%H%M%S")
    df_data.to_csv(f"s3://weatherapi/{dt_string}.csv", index=False)  # expect: SW402


default_args = {"owner": "airflow", "depends_on_past": False, "start_date": datetime(2023, 1, 8), "retries": 2, "retry_delay": timedelta(minutes=2)}

with DAG("weather_dag", default_args=default_args, schedule_interval="@daily", catchup=False) as dag:
    extract_weather_data = SimpleHttpOperator(task_id="extract_weather_data", http_conn_id="weathermap_api", endpoint="/data/2.5/weather?q=Portland", method="GET", response_filter=lambda r: json.loads(r.text), log_response=True)
    transform_load_weather_data = PythonOperator(task_id="transform_load_weather_data", python_callable=transform_load_data)
    extract_weather_data >> transform_load_weather_data
