-- expect: SW301
merge into prod.customers c
-- expect: SW401
using (select * from landing.customer_events where event_date = current_date) e
on c.customer_id = e.customer_id
when matched then update set c.email = e.email
when not matched then insert (customer_id, email) values (e.customer_id, e.email);
