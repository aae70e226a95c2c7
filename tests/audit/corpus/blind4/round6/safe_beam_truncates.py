import apache_beam as beam

with beam.Pipeline() as pipeline:
    (
        pipeline
        | beam.io.ReadFromText("gs://landing/visits.csv")
        | beam.io.WriteToBigQuery("core.visits", write_disposition=beam.io.BigQueryDisposition.WRITE_TRUNCATE)
    )
