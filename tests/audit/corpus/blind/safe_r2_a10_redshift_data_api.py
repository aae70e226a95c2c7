import boto3

client = boto3.client("redshift-data")


def load(day):
    client.batch_execute_statement(
        ClusterIdentifier="dwh",
        Database="prod",
        DbUser="etl",
        Sqls=[
            f"DELETE FROM sales.daily WHERE day = '{day}'",
            f"INSERT INTO sales.daily SELECT day, sum(amount) FROM sales.orders WHERE day = '{day}' GROUP BY day",
        ],
    )
