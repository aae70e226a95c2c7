from snowflake.snowpark import Session
from snowflake.snowpark.functions import col, lit, when_matched, when_not_matched


def score(session: Session, day: str) -> str:
    base = session.table("FEATURES").filter(col("DAY") == lit(day))
    out = base.select("CUSTOMER_ID", (col("F1") * 0.3 + col("F2") * 0.7).alias("SCORE"))
    out.write.mode("overwrite").save_as_table("SCORES_TODAY")
    out.write.mode("append").save_as_table("SCORES_HISTORY")  # expect: SW101
    target = session.table("SCORES")
    src = out.drop_duplicates("CUSTOMER_ID")
    target.merge(src, target["CUSTOMER_ID"] == src["CUSTOMER_ID"], [
        when_matched().update({"SCORE": src["SCORE"]}),
        when_not_matched().insert({"CUSTOMER_ID": src["CUSTOMER_ID"], "SCORE": src["SCORE"]}),
    ])
    return "ok"