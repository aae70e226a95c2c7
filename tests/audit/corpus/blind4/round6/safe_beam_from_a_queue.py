import apache_beam as beam

with beam.Pipeline() as pipeline:
    (
        pipeline
        | beam.io.ReadFromPubSub(topic="projects/shop/topics/visits")
        | beam.io.WriteToBigQuery("core.visits", write_disposition=beam.io.BigQueryDisposition.WRITE_APPEND)
    )
