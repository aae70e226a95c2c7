import pandas as pd
from deltalake import DeltaTable, write_deltalake

df = pd.read_json("clicks.json", lines=True)
write_deltalake("s3://lake/clicks", df, mode="overwrite", predicate="day = '2024-05-01'")
(
    DeltaTable("s3://lake/users")
    .merge(df.drop_duplicates(["id"]), predicate="t.id = s.id", source_alias="s", target_alias="t")
    .when_matched_update_all()
    .when_not_matched_insert_all()
    .execute()
)
