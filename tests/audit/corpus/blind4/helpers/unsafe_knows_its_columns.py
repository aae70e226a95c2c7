def archive(cursor, table, day):
    # expect: SW102
    cursor.execute(f"INSERT INTO {table} (order_id, amount) SELECT order_id, amount FROM core.orders WHERE day = {day!r}")
