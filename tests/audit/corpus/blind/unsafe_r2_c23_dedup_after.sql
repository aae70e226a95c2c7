-- expect: SW102
INSERT INTO dw.clicks SELECT * FROM staging.clicks;
-- expect: SW104
DELETE FROM dw.clicks a USING dw.clicks b WHERE a.ctid < b.ctid AND a.click_id = b.click_id;
