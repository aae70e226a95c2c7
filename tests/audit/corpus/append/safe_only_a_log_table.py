import pandas as pd


def log_run(engine, name, rows):
    pd.DataFrame([{"job": name, "rows": rows}]).to_sql("etl_job_log", engine, if_exists="append", index=False)
