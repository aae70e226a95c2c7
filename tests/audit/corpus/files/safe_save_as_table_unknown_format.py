def publish(df):
    df.write.mode("overwrite").saveAsTable("gold.customers")
