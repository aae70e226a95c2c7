from sqlalchemy import create_engine, text

engine = create_engine("postgresql+psycopg://db/dwh")


def clear(day):
    with engine.begin() as conn:
        # expect: SW201
        conn.execute(text("DELETE FROM mart.daily WHERE day = :day"), {"day": day})


def fill(day):
    with engine.begin() as conn:
        conn.execute(text("INSERT INTO mart.daily SELECT day, sum(amount) FROM orders WHERE day = :day GROUP BY day"), {"day": day})


def main(day):
    clear(day)
    fill(day)


if __name__ == "__main__":
    main("2024-05-01")
