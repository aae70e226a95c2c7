CREATE OR REPLACE FUNCTION refresh_daily(d date) RETURNS void AS $$
BEGIN
    DELETE FROM daily_stats WHERE day = d;
    INSERT INTO daily_stats SELECT d, count(*) FROM events WHERE event_day = d;
END;
$$ LANGUAGE plpgsql;
