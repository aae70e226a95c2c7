def export(df, run_id):
    df.write.parquet(f"s3://exports/{run_id}/customers")
