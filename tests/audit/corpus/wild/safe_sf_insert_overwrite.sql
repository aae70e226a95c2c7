INSERT OVERWRITE INTO mart.daily SELECT day, COUNT(*) FROM raw.events GROUP BY day;
