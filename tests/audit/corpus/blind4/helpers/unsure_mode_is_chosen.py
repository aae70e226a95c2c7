class TableWriter:
    def __init__(self, table, behaviour):
        self.table = table
        self.behaviour = behaviour

    def write(self, df):
        writer = df.writeTo(self.table).using("iceberg")
        if self.behaviour == "append":
            writer.append()  # expect: SW101 note
        else:
            writer.createOrReplace()


def save(df, overwrite=False):
    if overwrite:
        df.write.mode("overwrite").format("delta").saveAsTable("core.visits")
    else:
        df.write.mode("append").format("delta").saveAsTable("core.visits")  # expect: SW101 note
