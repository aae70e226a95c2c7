from airflow import DAG
from airflow.providers.postgres.operators.postgres import PostgresOperator

with DAG("two_steps", schedule="@daily") as dag:
    clear = PostgresOperator(task_id="clear", sql="DELETE FROM mart.kpis WHERE ds = '{{ ds }}'")
    # expect: SW102
    fill = PostgresOperator(task_id="fill", sql="INSERT INTO mart.kpis SELECT * FROM stg.kpis WHERE ds = '{{ ds }}'")
    clear >> fill
