def write(df):
    (
        df.write.format("hudi")
        .option("hoodie.datasource.write.recordkey.field", "order_id")
        .option("hoodie.datasource.write.operation", "upsert")
        .mode("append")
        .save("s3://lake/orders")
    )
