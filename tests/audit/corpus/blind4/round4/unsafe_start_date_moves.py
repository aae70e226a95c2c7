import pendulum
from airflow.decorators import dag


@dag(schedule="@daily", start_date=pendulum.now().subtract(days=1))  # expect: SW402
def nothing_yet():
    pass


nothing_yet()
