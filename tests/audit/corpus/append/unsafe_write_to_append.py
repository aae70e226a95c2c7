def load(df):
    df.writeTo("catalog.db.events").append()  # expect: SW101
