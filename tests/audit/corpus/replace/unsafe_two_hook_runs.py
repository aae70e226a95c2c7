from airflow.providers.postgres.hooks.postgres import PostgresHook


def refresh(ds, **_):
    hook = PostgresHook("dw")
    hook.run(f"DELETE FROM mart.sessions WHERE ds = '{ds}'")  # expect: SW201
    hook.run(f"INSERT INTO mart.sessions SELECT * FROM stg.sessions WHERE ds = '{ds}'")
