import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions


def run():
    with beam.Pipeline(options=PipelineOptions()) as p:
        (
            p
            | beam.io.ReadFromPubSub(subscription="projects/x/subscriptions/y")
            | beam.Map(lambda b: {"payload": b.decode()})
            | beam.io.WriteToBigQuery("x:ds.events", write_disposition=beam.io.BigQueryDisposition.WRITE_TRUNCATE)
        )