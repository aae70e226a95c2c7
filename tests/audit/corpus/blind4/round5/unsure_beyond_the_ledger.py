import pandas as pd


def go_on(source, target):
    cursor = target.cursor()
    cursor.execute("SELECT MAX(last_id) FROM processing_status")
    last = cursor.fetchone()[0] or 0
    rows = pd.read_sql("SELECT * FROM visit WHERE id > ?", source, params=(last,))
    rows.to_sql("visits", target, if_exists="append", index=False)  # expect: SW101 note
    cursor.execute("INSERT INTO processing_status (last_id) VALUES (?)", (int(rows["id"].max()),))
    target.commit()
