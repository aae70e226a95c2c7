def to_mysql(df, url):
    # expect: SW101
    df.write.format("jdbc").option("url", url).option("dbtable", "reporting.kpis").option("user", "etl").mode("append").save()
