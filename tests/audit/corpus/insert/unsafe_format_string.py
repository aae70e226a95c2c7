# expect: SW102
QUERY = "INSERT INTO {schema}.daily_totals SELECT day, SUM(amount) FROM {schema}.sales WHERE day = '{day}' GROUP BY day"


def run(cursor, schema, day):
    cursor.execute(QUERY.format(schema=schema, day=day))
    cursor.connection.commit()
