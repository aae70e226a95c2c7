def model(dbt, session):
    dbt.config(materialized="incremental", unique_key="id", packages=["pandas"])
    orders = dbt.ref("stg_orders")
    if dbt.is_incremental:
        newest = session.sql(f"select max(updated_at) from {dbt.this}").collect()[0][0]
        orders = orders.filter(orders.updated_at > newest)
    return orders
