from airflow.providers.postgres.hooks.postgres import PostgresHook
def load(df, ds):
    hook = PostgresHook("dw")
    engine = hook.get_sqlalchemy_engine()
    with engine.begin() as con:
        con.execute(f"DELETE FROM sales WHERE ds = '{ds}'")
        df.to_sql("sales", con=con, if_exists="append", index=False)
