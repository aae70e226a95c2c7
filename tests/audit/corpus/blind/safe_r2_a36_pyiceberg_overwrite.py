import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog
from pyiceberg.expressions import EqualTo

table = load_catalog("default").load_table("lake.trips")
table.overwrite(pq.read_table("trips-2024-05.parquet"), overwrite_filter=EqualTo("month", "2024-05"))
rows = []
rows.append(1)
