import psycopg2 as pg
from airflow.hooks.base import BaseHook
from airflow.models.baseoperator import BaseOperator


class AggOperator(BaseOperator):
    def __init__(self, date_from, date_to, **kwargs):
        super().__init__(**kwargs)
        self.date_from = date_from
        self.date_to = date_to

    def execute(self, context):
        query = f"""
            INSERT INTO agg_table  # expect: SW102
            SELECT user_id, COUNT(1)
              FROM raw_attempts
             WHERE created_at >= '{self.date_from}'::timestamp
               AND created_at < '{self.date_to}'::timestamp
             GROUP BY user_id
        """
        connection = BaseHook.get_connection("conn_pg")
        with pg.connect(dbname="etl", user=connection.login) as conn:
            cursor = conn.cursor()
            cursor.execute(query)
            conn.commit()
