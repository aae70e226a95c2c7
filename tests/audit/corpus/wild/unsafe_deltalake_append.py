from deltalake import write_deltalake
import pandas as pd
write_deltalake("s3://b/t", pd.read_csv("x.csv"), mode="append")  # expect: SW101
