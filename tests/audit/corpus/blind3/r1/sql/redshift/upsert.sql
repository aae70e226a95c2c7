begin;
create temp table stage_users (like public.users);
copy stage_users from 's3://acme/users/2024-05-01/' iam_role 'arn:aws:iam::1:role/x' format as parquet;
delete from public.users using stage_users where public.users.user_id = stage_users.user_id;
insert into public.users select * from stage_users;
end;