BEGIN
  EXECUTE IMMEDIATE 'TRUNCATE TABLE cust_summary';  -- expect: SW201
  INSERT INTO cust_summary SELECT cust_id, COUNT(*) FROM orders GROUP BY cust_id;
  COMMIT;
END;
/