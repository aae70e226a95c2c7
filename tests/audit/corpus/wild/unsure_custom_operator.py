from airflow.hooks.postgres_hook import PostgresHook
from airflow.models import BaseOperator


class LoadFactOperator(BaseOperator):
    ui_color = "#F98866"

    def __init__(self, redshift_conn_id="", table="", sql="", append=True, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.conn_id = redshift_conn_id
        self.table = table
        self.sql = sql
        self.append = append

    def execute(self, context):
        redshift = PostgresHook(postgres_conn_id=self.conn_id)
        if not self.append:
            redshift.run("TRUNCATE TABLE {}".format(self.table))
        redshift.run("INSERT INTO {} {}".format(self.table, self.sql))  # expect: SW102 note
