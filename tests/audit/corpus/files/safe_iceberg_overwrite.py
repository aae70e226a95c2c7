def publish(df, F):
    df.writeTo("prod.db.orders").overwrite(F.col("order_date") == "2024-05-01")
