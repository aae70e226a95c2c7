from google.cloud import bigquery

client = bigquery.Client()


def load(uri, day):
    cfg = bigquery.LoadJobConfig(source_format="PARQUET", write_disposition=bigquery.WriteDisposition.WRITE_TRUNCATE)
    client.load_table_from_uri(uri, f"p.d.t${day}", job_config=cfg).result()


def load_more(uri):
    cfg = bigquery.LoadJobConfig()
    cfg.source_format = bigquery.SourceFormat.CSV
    cfg.write_disposition = "WRITE_APPEND"
    client.load_table_from_uri(uri, "p.d.more", job_config=cfg).result()  # expect: SW101


def load_once(uri, day):
    cfg = bigquery.LoadJobConfig(write_disposition="WRITE_APPEND")
    client.load_table_from_uri(uri, "p.d.once", job_config=cfg, job_id=f"once_{day}").result()


def stream(rows):
    client.insert_rows_json("p.d.live", rows, row_ids=[r["id"] for r in rows])


def agg(day):
    job = client.query("INSERT INTO `p.d.agg` SELECT day, COUNT(*) FROM `p.d.t` WHERE day = @d GROUP BY day")  # expect: SW102
    job.result()
