"""Loads the vendor's monthly workbook."""
import argparse
import os
from pathlib import Path

import pandas as pd
from sqlalchemy import create_engine, text

ENGINE = create_engine(os.environ["DB_URL"])


def parse(path: Path) -> pd.DataFrame:
    frame = pd.read_excel(path, sheet_name="Data", skiprows=3)
    frame.columns = [c.strip().lower().replace(" ", "_") for c in frame.columns]
    frame["source_file"] = path.name
    return frame.dropna(how="all")


def load(frame: pd.DataFrame, source: str) -> int:
    with ENGINE.begin() as conn:
        conn.execute(text("DELETE FROM vendor.monthly WHERE source_file = :f"), {"f": source})
        frame.to_sql("monthly", conn, schema="vendor", if_exists="append", index=False, chunksize=5000)
    return len(frame)


def load_quick(frame: pd.DataFrame) -> None:
    frame.to_sql("monthly_adhoc", ENGINE, schema="vendor", if_exists="append", index=False)  # expect: SW101


def load_dim(frame: pd.DataFrame) -> None:
    frame.to_sql("dim_vendor", ENGINE, schema="vendor", if_exists="replace", index=False)


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("files", nargs="+", type=Path)
    for f in ap.parse_args().files:
        print(f.name, load(parse(f), f.name))


if __name__ == "__main__":
    main()