create or replace procedure mart.sp_daily_snapshot()
returns string
language sql
as
$$
begin
  insert into mart.daily_snapshot (taken_on, account_id, balance)  -- expect: SW102
    select current_date(), account_id, sum(amount) from mart.ledger group by 2;
  return 'ok';
end;
$$;