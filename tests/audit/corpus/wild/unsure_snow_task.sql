CREATE OR REPLACE TASK load_orders
  WAREHOUSE = etl_wh
  SCHEDULE = '60 MINUTE'
WHEN SYSTEM$STREAM_HAS_DATA('orders_stream')
AS
-- expect: SW301 note
  MERGE INTO orders t USING orders_stream s ON t.id = s.id
  WHEN MATCHED THEN UPDATE SET t.v = s.v
  WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v);
