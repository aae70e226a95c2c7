from airflow.models import BaseOperator
from airflow.providers.mysql.hooks.mysql import MySqlHook


class Copies(BaseOperator):
    def __init__(self, table, preoperator=None, **rest):
        super().__init__(**rest)
        self.table = table
        self.preoperator = preoperator

    def execute(self, context):
        hook = MySqlHook("dw")
        hook.run(self.preoperator)
        hook.insert_rows(table=self.table, rows=context["rows"])  # expect: SW103 note
