from datetime import date


def dump(df):
    df.write.format("delta").mode("overwrite").save(f"/lake/orders/dt={date.today()}")  # expect: SW401
