from snowflake.connector.pandas_tools import write_pandas


def park(connection, frame):
    write_pandas(connection, frame, "ENTITY_ROWS", auto_create_table=True, create_temp_table=True)
