import glob
import os
import shutil

import pandas as pd
from sqlalchemy import create_engine

eng = create_engine(os.environ["URL"])


def main():
    for f in glob.glob("/in/*.csv"):
        df = pd.read_csv(f)
        df.columns = df.columns.str.lower()
        df.to_sql("sales", eng, if_exists="append", index=False)  # expect: SW101
        shutil.move(f, "/done")


main()