import pandas as pd
from deltalake import write_deltalake

df = pd.read_json("clicks.json", lines=True)
# expect: SW101
write_deltalake("s3://lake/clicks", df, mode="append")
