from snowflake.snowpark import Session


def main(session: Session, day: str) -> str:
    df = session.read.option("skip_header", 1).csv(f"@landing/orders/{day}.csv")
    # expect: SW101
    df.write.mode("append").save_as_table("raw.orders")
    return "ok"
