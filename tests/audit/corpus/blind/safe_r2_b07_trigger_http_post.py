from datetime import datetime
from airflow import DAG
from airflow.operators.bash import BashOperator
from airflow.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.slack.operators.slack_webhook import SlackWebhookOperator

with DAG("notify", start_date=datetime(2024, 1, 1), schedule="@daily", default_args={"retries": 2}) as dag:
    run = BashOperator(task_id="dbt", bash_command="dbt run --select tag:daily --vars '{day: {{ ds }}}'")
    trigger = TriggerDagRunOperator(task_id="next", trigger_dag_id="report", trigger_run_id="report_{{ ds }}")
    slack = SlackWebhookOperator(task_id="slack", slack_webhook_conn_id="slack", message="done {{ ds }}")
    run >> trigger >> slack
