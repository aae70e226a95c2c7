CREATE TABLE sales_stage AS SELECT * FROM sales WHERE 1 = 0;
INSERT INTO sales_stage SELECT * FROM src_sales WHERE sale_month = DATE '2024-05-01';
ALTER TABLE sales EXCHANGE PARTITION p202405 WITH TABLE sales_stage;
DROP TABLE sales_stage;