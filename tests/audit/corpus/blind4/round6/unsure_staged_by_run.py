def stage(cursor, handle):
    # expect: SW101 note
    cursor.copy_expert("COPY stage.stg_visits (shop_id, seen_at, run_id) FROM STDIN WITH (FORMAT csv)", handle)
