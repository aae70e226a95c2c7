from airflow.decorators import task
from airflow.providers.postgres.hooks.postgres import PostgresHook


@task
def load(rows):
    PostgresHook("dw").insert_rows(table="exchange_rates", rows=rows)  # expect: SW103
