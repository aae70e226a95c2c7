def model(dbt, session):
    dbt.config(materialized="incremental", unique_key="id")
    df = dbt.ref("base")
    if dbt.is_incremental:
        df = df.filter(f"ts > (select max(ts) from {dbt.this})")
    return df