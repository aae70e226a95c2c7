insert overwrite into mart.kpis
select current_date(), count(*) from core.orders;
create or replace table mart.top_customers as
select customer_id, sum(amount) s from core.orders group by 1 order by s desc, customer_id limit 50;
create or replace temporary table t1 as select * from core.orders limit 100;