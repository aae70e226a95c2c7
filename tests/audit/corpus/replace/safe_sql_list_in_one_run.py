from airflow.providers.postgres.hooks.postgres import PostgresHook


def refresh(ds):
    hook = PostgresHook(postgres_conn_id="dw")
    hook.run(
        [
            f"DELETE FROM mart.sessions WHERE ds = '{ds}'",
            f"INSERT INTO mart.sessions SELECT * FROM stg.sessions WHERE ds = '{ds}'",
        ]
    )
