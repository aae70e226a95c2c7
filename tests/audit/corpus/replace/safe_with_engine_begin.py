from sqlalchemy import create_engine, text

engine = create_engine("postgresql://db/dw")


def refresh(day):
    with engine.begin() as conn:
        conn.execute(text("DELETE FROM daily_sales WHERE day = :d"), {"d": day})
        conn.execute(text("INSERT INTO daily_sales SELECT day, SUM(x) FROM sales WHERE day = :d GROUP BY day"), {"d": day})
