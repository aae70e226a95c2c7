import pandas as pd
from sqlalchemy import create_engine, text
eng = create_engine("postgresql://x")
def run():
    with eng.connect() as c:
        last = c.execute(text("SELECT max(id) FROM target.orders")).scalar() or 0
    df = pd.read_sql(f"SELECT * FROM source.orders WHERE id > {last}", eng)
    df.to_sql("orders", eng, schema="target", if_exists="append", index=False)
