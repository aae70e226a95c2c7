CREATE OR REPLACE TABLE core.latest_price AS
SELECT * EXCEPT (rn) FROM (
  -- expect: SW304
  SELECT *, ROW_NUMBER() OVER (PARTITION BY sku ORDER BY price_date DESC) AS rn FROM raw.prices
) WHERE rn = 1;
