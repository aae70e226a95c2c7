INSERT INTO dw.trips (trip_id, fare)
SELECT t.trip_id, t.fare
FROM staging.trips t
WHERE t.batch_id NOT IN (SELECT batch_id FROM dw.loaded_batches);
