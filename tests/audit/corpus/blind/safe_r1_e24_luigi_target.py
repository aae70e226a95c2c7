import luigi
import pandas as pd
from luigi.contrib.postgres import CopyToTable


class Clean(luigi.Task):
    day = luigi.DateParameter()

    def output(self):
        return luigi.LocalTarget(f"/data/clean/{self.day}.csv")

    def run(self):
        frame = pd.read_csv(f"/data/raw/{self.day}.csv")
        with self.output().open("w") as out:
            frame.dropna().to_csv(out, index=False)


class Load(CopyToTable):
    day = luigi.DateParameter()
    host = "db"
    database = "dwh"
    user = "etl"
    password = ""
    table = "clean"
    columns = [("id", "INT"), ("value", "FLOAT")]

    def requires(self):
        return Clean(self.day)
