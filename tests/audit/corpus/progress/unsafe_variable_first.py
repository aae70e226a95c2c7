from airflow.decorators import task
from airflow.models import Variable
from airflow.providers.postgres.hooks.postgres import PostgresHook


@task
def sync(ts):
    since = Variable.get("orders_last_run")
    Variable.set("orders_last_run", ts)  # expect: SW403
    PostgresHook("dw").run(f"INSERT INTO orders (id) SELECT id FROM src WHERE ts > '{since}' ON CONFLICT (id) DO NOTHING")
