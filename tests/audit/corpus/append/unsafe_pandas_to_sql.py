import pandas as pd
import requests
from sqlalchemy import create_engine

engine = create_engine("postgresql://etl@db/weather")


def fetch():
    response = requests.get("https://api.example.org/forecast")
    return pd.json_normalize(response.json()["list"])


def main():
    df = fetch()
    df["city"] = "Berlin"
    df.to_sql("weather", engine, if_exists="append", index=False)  # expect: SW101


main()
