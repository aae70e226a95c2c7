-- expect: SW201
DELETE FROM public.campaigns WHERE day = '2024-05-01';
COPY public.campaigns FROM 's3://lake/campaigns/2024-05-01/' IAM_ROLE 'arn:aws:iam::1:role/r' FORMAT AS CSV IGNOREHEADER 1;
