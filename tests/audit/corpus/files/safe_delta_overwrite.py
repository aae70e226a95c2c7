def publish(df):
    df.write.format("delta").mode("overwrite").save("/lake/gold/customers")
