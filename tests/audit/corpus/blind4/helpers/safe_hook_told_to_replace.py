from airflow.models import BaseOperator
from airflow.providers.mysql.hooks.mysql import MySqlHook


class Copies(BaseOperator):
    def __init__(self, table, replace=False, **rest):
        super().__init__(**rest)
        self.table = table
        self.replace = replace

    def execute(self, context):
        MySqlHook("dw").insert_rows(table=self.table, rows=context["rows"], replace=self.replace)
