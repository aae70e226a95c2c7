-- expect: SW201
delete from public.fact using stage where fact.k = stage.k;
insert into public.fact select * from stage;
