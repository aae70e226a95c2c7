from state import load_watermark, save_watermark


def run(spark):
    since = load_watermark("clicks")
    df = spark.table("raw.clicks").where(f"ts > '{since}'")
    newest = df.agg({"ts": "max"}).collect()[0][0]
    save_watermark("clicks", newest)  # expect: SW403
    df.write.format("delta").mode("overwrite").saveAsTable("silver.clicks_delta")
