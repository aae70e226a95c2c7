def write(df):
    df.write.format("delta").mode("ignore").saveAsTable("x.y")
    df.write.mode("errorifexists").parquet("/x")
