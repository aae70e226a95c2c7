import snowflake.connector


def rebuild():
    ctx = snowflake.connector.connect(account="a", user="u")
    cs = ctx.cursor()
    cs.execute("DELETE FROM MART.REVENUE")  # expect: SW201
    cs.execute("INSERT INTO MART.REVENUE SELECT DAY, SUM(AMOUNT) FROM RAW.SALES GROUP BY DAY")
