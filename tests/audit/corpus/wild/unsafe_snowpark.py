from snowflake.snowpark import Session
def main(session: Session):
    df = session.table("RAW.ORDERS").filter("DAY = '2024-01-01'")
    df.write.mode("append").save_as_table("MART.ORDERS")  # expect: SW101
