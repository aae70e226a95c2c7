from datetime import datetime

import requests
from airflow import DAG
from airflow.operators.python import PythonOperator
from airflow.providers.postgres.hooks.postgres import PostgresHook


def note_down():
    hook = PostgresHook("dw")
    known = {row[0] for row in hook.get_records("SELECT url FROM pages")}
    for url in set(requests.get("https://shop.example.org/pages").json()) - known:
        hook.run("INSERT INTO pages (url) VALUES (%s)", parameters=(url,))


with DAG("pages", start_date=datetime(2025, 1, 1)):
    PythonOperator(task_id="note_down", python_callable=note_down)
