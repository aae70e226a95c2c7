create or replace table mart.x_new clone mart.x;
delete from mart.x_new where d = '2024-01-01';
insert into mart.x_new select * from stg.x where d = '2024-01-01';
alter table mart.x swap with mart.x_new;
drop table mart.x_new;