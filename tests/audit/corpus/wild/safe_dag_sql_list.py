from airflow.decorators import dag
from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator
import pendulum

@dag(start_date=pendulum.datetime(2024, 1, 1), schedule="@daily")
def d():
    SQLExecuteQueryOperator(task_id="a", conn_id="pg", sql=["DELETE FROM t WHERE ds='{{ ds }}'", "INSERT INTO t SELECT * FROM s WHERE ds='{{ ds }}'"])
    SQLExecuteQueryOperator(task_id="b", conn_id="pg", sql="sql/load.sql")

d()
