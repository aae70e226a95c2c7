INSERT INTO product_stats (product_id, views)
SELECT product_id, COUNT(*) FROM page_views GROUP BY product_id
ON DUPLICATE KEY UPDATE views = VALUES(views);
