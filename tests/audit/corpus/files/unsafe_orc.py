OUTPUT = "hdfs:///warehouse/metrics"


def save(df):
    df.write.mode("overwrite").orc(OUTPUT)  # expect: SW203
