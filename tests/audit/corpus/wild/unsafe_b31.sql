insert overwrite table silver.accounts
select account_id, status from (
-- expect: SW304
  select account_id, status, row_number() over (partition by account_id order by load_date desc) as rnk
  from bronze.accounts
) x
where rnk = 1
