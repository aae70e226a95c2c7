-- expect: SW101
COPY analytics.page_views
FROM 's3://company-lake/page_views/2024-05-01/'
IAM_ROLE 'arn:aws:iam::1:role/redshift'
FORMAT AS PARQUET;
