import ibis

con = ibis.postgres.connect(database="dw")
t = con.table("raw_orders")
agg = t.group_by("day").aggregate(n=t.count())
con.create_table("orders_by_day", agg, overwrite=True)