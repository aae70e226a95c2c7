import polars as pl
from deltalake import write_deltalake, DeltaTable

URI = "s3://lake/fx_rates"


def latest(url: str) -> pl.DataFrame:
    return pl.read_csv(url).with_columns(pl.col("date").str.to_date())


def upsert(df: pl.DataFrame) -> None:
    (
        DeltaTable(URI)
        .merge(df.unique(subset=["date", "ccy"]).to_arrow(), predicate="t.date = s.date and t.ccy = s.ccy", source_alias="s", target_alias="t")
        .when_matched_update_all()
        .when_not_matched_insert_all()
        .execute()
    )


def replace_day(df: pl.DataFrame, day: str) -> None:
    write_deltalake(URI, df.to_arrow(), mode="overwrite", predicate=f"date = '{day}'")


def history(df: pl.DataFrame) -> None:
    write_deltalake("s3://lake/fx_rates_history", df.to_arrow(), mode="append")  # expect: SW101