CREATE TABLE sales_load LIKE sales_staging;
INSERT INTO sales_load SELECT * FROM sales_source WHERE month = '2024-05';
ALTER TABLE sales EXCHANGE PARTITION p202405 WITH TABLE sales_load;
DROP TABLE sales_load;
