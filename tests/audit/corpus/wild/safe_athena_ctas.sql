INSERT INTO lake.daily SELECT * FROM lake.raw WHERE dt = '2024-01-01' AND NOT EXISTS (SELECT 1 FROM lake.daily d WHERE d.dt = '2024-01-01');
