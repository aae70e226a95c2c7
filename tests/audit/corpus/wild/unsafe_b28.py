from confluent_kafka import Producer
from airflow.operators.python import PythonOperator
from airflow import DAG
def publish(**ctx):
    p = Producer({"bootstrap.servers": "b"})
    for r in ctx["ti"].xcom_pull("x"):
        p.produce("topic", value=r)  # expect: SW602
    p.flush()
with DAG("k", default_args={"retries": 3}) as dag:
    PythonOperator(task_id="publish", python_callable=publish)
