CREATE OR REPLACE TABLE ml.training_sample AS
-- expect: SW305
SELECT user_id, features FROM ml.features WHERE label IS NOT NULL LIMIT 100000;
