from snowflake.connector.pandas_tools import write_pandas


def park(connection, frame, **more):
    write_pandas(connection, frame, "ENTITY_ROWS", **more)  # expect: SW101 note
