CREATE FUNCTION bump(job uuid) RETURNS void AS $$
BEGIN
  UPDATE batch SET done = COALESCE(done, 0) + 5 WHERE id = job;
END;
$$ LANGUAGE plpgsql;
