def hive_save(df, keep):
    overwrite = not keep
    df.write.insertInto("mart.visits", overwrite=overwrite)  # expect: SW101 note
