from airflow.models import BaseOperator
from airflow.providers.postgres.hooks.postgres import PostgresHook


class LoadFactOperator(BaseOperator):
    template_fields = ("day",)

    def __init__(self, day: str, conn_id: str = "dwh", **kwargs):
        super().__init__(retries=3, **kwargs)
        self.day = day
        self.conn_id = conn_id

    def execute(self, context):
        hook = PostgresHook(self.conn_id)
        # expect: SW102
        hook.run(f"INSERT INTO fact_orders SELECT * FROM staging_orders WHERE day = '{self.day}'")
