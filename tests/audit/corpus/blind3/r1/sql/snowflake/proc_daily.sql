create or replace procedure mart.sp_daily(d date)
returns string
language sql
as
$$
begin
  begin transaction;
  delete from mart.daily where day = :d;
  insert into mart.daily (day, shop_id, revenue)
    select order_date, shop_id, sum(amount) from mart.orders where order_date = :d group by 1, 2;
  commit;
  return 'done';
exception
  when other then
    rollback;
    raise;
end;
$$;