import pandas as pd
import sqlalchemy as sa


def load(engine: sa.Engine, new: pd.DataFrame) -> int:
    have = pd.read_sql("SELECT invoice_no FROM invoices", engine)
    fresh = new[~new["invoice_no"].isin(have["invoice_no"])].drop_duplicates("invoice_no")
    fresh.to_sql("invoices", engine, if_exists="append", index=False)
    return len(fresh)


def load_all(engine: sa.Engine, new: pd.DataFrame) -> None:
    new.to_sql("invoices_raw", engine, if_exists="append", index=False, method="multi")  # expect: SW101