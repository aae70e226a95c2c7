WRITE_MODE = "append"


def save(df, table):
    # expect: SW101
    (
        df.write.format("delta")
        .mode(WRITE_MODE)
        .partitionBy("event_date")
        .saveAsTable(table)
    )
