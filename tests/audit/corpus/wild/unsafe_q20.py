from prefect import task
from prefect_sqlalchemy import SqlAlchemyConnector
@task(retries=3)  # expect: SW501
def load(rows):
    with SqlAlchemyConnector.load("db") as db:
        db.execute_many("INSERT INTO t (a) VALUES (:a)", seq_of_parameters=rows)  # expect: SW103
