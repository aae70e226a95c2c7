import luigi
from luigi.contrib.postgres import CopyToTable
import psycopg2


class Extract(luigi.Task):
    day = luigi.DateParameter()

    def output(self):
        return luigi.LocalTarget(f"out/{self.day}.csv")

    def run(self):
        with self.output().open("w") as f:
            for i in range(10):
                f.write(f"{i}\n")


class Load(CopyToTable):
    day = luigi.DateParameter()
    host, database, user, password = "h", "d", "u", "p"
    table = "facts"
    columns = [("n", "INT")]

    def requires(self):
        return Extract(self.day)


class Publish(luigi.Task):
    day = luigi.DateParameter()

    def run(self):
        conn = psycopg2.connect("dbname=x")
        cur = conn.cursor()
        cur.execute("delete from pub where day = %s", (self.day,))
        cur.execute("insert into pub select * from facts where day = %s", (self.day,))
        conn.commit()
        conn.close()