from delta.tables import DeltaTable


def reload(spark, df, day):
    table = DeltaTable.forName(spark, "gold.orders")
    table.delete(f"order_date = '{day}'")  # expect: SW201
    df.write.format("delta").mode("append").saveAsTable("gold.orders")
