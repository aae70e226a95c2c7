def to_postgres(df, url, props):
    df.write.jdbc(url=url, table="public.daily_sales", mode="append", properties=props)  # expect: SW101
