def publish(df):
    df.writeTo("prod.db.events").overwritePartitions()  # expect: SW204
