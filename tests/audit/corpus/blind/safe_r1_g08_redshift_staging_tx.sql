CREATE TEMP TABLE stage (LIKE public.users);
COPY stage FROM 's3://lake/users/' IAM_ROLE 'arn:aws:iam::1:role/r' FORMAT AS PARQUET;
BEGIN TRANSACTION;
DELETE FROM public.users USING stage WHERE public.users.id = stage.id;
INSERT INTO public.users SELECT * FROM stage;
END TRANSACTION;
DROP TABLE stage;
