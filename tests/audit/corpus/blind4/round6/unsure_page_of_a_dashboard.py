import streamlit as st
from google.cloud import bigquery


def keep(frame):
    settings = bigquery.LoadJobConfig(write_disposition="WRITE_APPEND")
    bigquery.Client().load_table_from_dataframe(frame, "shop.app.notes", job_config=settings)  # expect: SW101 note
    st.success("kept")
