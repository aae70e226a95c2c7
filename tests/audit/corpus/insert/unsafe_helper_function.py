from utils.db import run_query


def build(day):
    # expect: SW102
    run_query(
        f"INSERT INTO mart.kpis SELECT '{day}', count(*) FROM events WHERE day = '{day}'"
    )
