INSERT INTO inventory_snapshot (snapshot_date, sku, qty) -- expect: SW102
SELECT CURRENT_DATE, sku, SUM(qty) FROM inventory GROUP BY sku;
