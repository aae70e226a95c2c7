create or replace stream raw.orders_stream on table raw.orders;
create or replace task mart.load_orders
  warehouse = etl_wh
  schedule = '5 minute'
when system$stream_has_data('raw.orders_stream')
as
merge into mart.orders t
using (
  select v:id::number id, v:amount::number(12,2) amount, v:updated_at::timestamp_ntz updated_at
  from raw.orders_stream
  qualify row_number() over (partition by v:id order by v:updated_at desc, v:seq desc) = 1
) s on t.id = s.id
when matched then update set amount = s.amount, updated_at = s.updated_at
when not matched then insert (id, amount, updated_at) values (s.id, s.amount, s.updated_at);
alter task mart.load_orders resume;