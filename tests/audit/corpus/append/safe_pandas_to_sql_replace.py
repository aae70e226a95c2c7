import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("postgresql://etl@db/warehouse")


def main():
    rates = pd.read_csv("https://example.org/rates.csv")
    rates.to_sql("fx_rates", engine, if_exists="replace", index=False)


if __name__ == "__main__":
    main()
