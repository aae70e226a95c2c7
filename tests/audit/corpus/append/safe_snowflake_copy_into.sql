-- Snowflake remembers which files it has loaded.
COPY INTO raw.orders
FROM @raw.orders_stage/2024/
FILE_FORMAT = (TYPE = PARQUET)
MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;
