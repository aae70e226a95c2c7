-- An order is sent again whenever its status changes; the day's last word counts.
SELECT order_id, customer_id, amount, status, updated_at, order_date
FROM (
  SELECT *, row_number() OVER (PARTITION BY order_id ORDER BY updated_at DESC, status) AS newest
  FROM source
)
WHERE newest = 1
