import pandas as pd
from sqlalchemy import create_engine


class Warehouse:
    def __init__(self, url: str, schema: str) -> None:
        self.engine = create_engine(url)
        self.schema = schema
        self.options = {"if_exists": "append", "index": False, "chunksize": 5000}

    def write(self, frame: pd.DataFrame, table: str) -> None:
        # expect: SW101
        frame.to_sql(table, self.engine, schema=self.schema, **self.options)


def main() -> None:
    warehouse = Warehouse("postgresql://db/dwh", "raw")
    warehouse.write(pd.read_json("events.json", lines=True), "events")


if __name__ == "__main__":
    main()
