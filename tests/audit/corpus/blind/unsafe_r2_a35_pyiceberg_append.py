import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog

catalog = load_catalog("default")
table = catalog.load_table("lake.trips")
# expect: SW101
table.append(pq.read_table("trips-2024-05.parquet"))
