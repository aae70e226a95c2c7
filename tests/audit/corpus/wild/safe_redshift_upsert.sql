begin transaction;
delete from sales using stage where sales.id = stage.id;
insert into sales select * from stage;
end transaction;
drop table stage;
