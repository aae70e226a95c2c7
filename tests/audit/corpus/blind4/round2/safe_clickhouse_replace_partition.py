import clickhouse_connect

client = clickhouse_connect.get_client(host="ch")


def roll_up(day):
    client.command("CREATE OR REPLACE TABLE visits_by_day_new AS visits_by_day")
    client.command(f"INSERT INTO visits_by_day_new SELECT day, count() FROM visits WHERE day = '{day}' GROUP BY day")
    client.command(f"ALTER TABLE visits_by_day REPLACE PARTITION '{day}' FROM visits_by_day_new")
