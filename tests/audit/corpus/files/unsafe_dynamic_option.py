def publish(df):
    # expect: SW204
    (
        df.write.format("delta")
        .mode("overwrite")
        .option("partitionOverwriteMode", "dynamic")
        .partitionBy("order_date")
        .saveAsTable("gold.orders")
    )
