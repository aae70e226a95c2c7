import json
import os

import pandas as pd
from sqlalchemy import create_engine

LEDGER = "loaded.json"
ENGINE = create_engine("postgresql:///dw")


def main():
    loaded = set(json.load(open(LEDGER))) if os.path.exists(LEDGER) else set()
    for name in os.listdir("landing"):
        if name in loaded:
            continue
        pd.read_csv(f"landing/{name}").to_sql("visits", ENGINE, if_exists="append")  # expect: SW101 note
        loaded.add(name)
        json.dump(sorted(loaded), open(LEDGER, "w"))


main()
