from airflow.models import DAG
from airflow.operators.postgres_operator import PostgresOperator
from datetime import datetime
dag = DAG("etl", default_args={"retries": 5, "start_date": datetime(2020, 1, 1)}, schedule_interval="0 3 * * *")
load_fact = PostgresOperator(task_id="load_fact", sql="""
  BEGIN;
  DELETE FROM fact_sales WHERE sale_date = '{{ ds }}';
  INSERT INTO fact_sales (sale_id, amount)
  SELECT s.id, s.amount FROM staging_sales s WHERE s.sale_date = '{{ ds }}';
  COMMIT;
""", dag=dag)
