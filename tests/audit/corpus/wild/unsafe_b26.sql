-- nightly
-- expect: SW102
insert into `warehouse`.`order_facts` (`order_id`, `total`)
select o.id, sum(i.price * i.qty)
from orders o join items i on i.order_id = o.id
-- expect: SW401
where date(o.created_at) = date_sub(curdate(), interval 1 day)
group by o.id;
