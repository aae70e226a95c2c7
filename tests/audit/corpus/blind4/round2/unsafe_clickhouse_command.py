import clickhouse_connect

client = clickhouse_connect.get_client(host="ch")


def roll_up(day):
    # expect: SW102
    client.command(f"INSERT INTO visits_by_day SELECT day, count() FROM visits WHERE day = '{day}' GROUP BY day")
