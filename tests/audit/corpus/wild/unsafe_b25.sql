create or replace table analytics.training_set as
select user_id, features from analytics.features
where label is not null
-- expect: SW305
limit 500000;
