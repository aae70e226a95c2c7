from airflow.providers.postgres.hooks.postgres import PostgresHook


def load(rows):
    hook = PostgresHook(postgres_conn_id="dw")
    hook.insert_rows("public.fx_rates", rows, target_fields=["day", "rate"], replace=True, replace_index="day")
