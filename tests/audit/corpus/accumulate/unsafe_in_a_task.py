from airflow.decorators import dag, task
from airflow.providers.postgres.hooks.postgres import PostgresHook
import pendulum

@dag(schedule="@daily", start_date=pendulum.datetime(2024, 1, 1))
def d():
    @task
    def apply(rows):
        hook = PostgresHook("dw")
        for r in rows:
            # expect: SW105
            hook.run("UPDATE stock SET qty = qty - %s WHERE sku = %s", parameters=(r["n"], r["sku"]))
    apply([])
d()
