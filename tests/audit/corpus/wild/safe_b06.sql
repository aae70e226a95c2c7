begin;
lock table dw.dim_product in exclusive mode;
truncate table dw.dim_product;
insert into dw.dim_product select p.id, p.name from src.product p;
commit;
analyze dw.dim_product;
