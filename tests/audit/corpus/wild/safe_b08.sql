merge into prod.customers c
using (
  select customer_id, email from (
    select customer_id, email, row_number() over (partition by customer_id order by event_ts desc, event_id desc) rk
    from landing.customer_events) where rk = 1
) e on c.customer_id = e.customer_id
when matched then update set c.email = e.email
when not matched then insert (customer_id, email) values (e.customer_id, e.email);
