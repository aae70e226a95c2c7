insert into mart.orders_daily (order_id, total)
-- expect: SW401
select order_id, total from raw.orders where created_at::date = current_date - 1
on conflict (order_id) do nothing;
