import pandas as pd


def export(df: pd.DataFrame, day: str) -> None:
    df.to_csv(f"/exports/{day}.csv", index=False)
    df.to_parquet(f"/exports/{day}.parquet")
