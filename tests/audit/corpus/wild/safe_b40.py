import great_expectations as ge
import pandas as pd
def validate(path):
    df = pd.read_csv(path)
    df["loaded_at"] = pd.Timestamp.now()
    df.to_parquet(path.replace(".csv", ".parquet"))
