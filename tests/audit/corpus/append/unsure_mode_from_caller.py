def save(df, path, mode):
    df.write.format("delta").mode(mode).save(path)  # expect: SW101 note
