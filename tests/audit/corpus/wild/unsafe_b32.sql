-- expect: SW303
insert into dim_price (sku, price, ingestion_time)
select sku, price, ingestion_time from staging_price
on conflict (sku, ingestion_time) do update set price = excluded.price;
