DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'app') THEN
    CREATE ROLE app;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM settings WHERE name = 'x') THEN
    INSERT INTO settings (name, value) SELECT 'x', '1';
  END IF;
END $$;