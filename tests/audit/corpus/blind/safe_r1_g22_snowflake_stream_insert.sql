CREATE OR REPLACE STREAM raw.orders_stream ON TABLE raw.orders APPEND_ONLY = TRUE;
CREATE OR REPLACE TASK core.load_orders
  WAREHOUSE = etl_wh
  SCHEDULE = '5 MINUTE'
  WHEN SYSTEM$STREAM_HAS_DATA('raw.orders_stream')
AS
INSERT INTO core.orders (id, amount)
SELECT id, amount FROM raw.orders_stream;
