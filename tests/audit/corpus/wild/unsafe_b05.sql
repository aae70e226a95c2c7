-- expect: SW201
truncate table dw.dim_product;
insert into dw.dim_product
select p.id, p.name, c.name as category
from src.product p
left join src.category c on c.id = p.category_id;
