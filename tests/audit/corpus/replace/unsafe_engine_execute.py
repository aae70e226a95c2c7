from sqlalchemy import create_engine

engine = create_engine("mysql://db/dw")


def refresh():
    engine.execute("DELETE FROM top_products")  # expect: SW201
    engine.execute("INSERT INTO top_products SELECT product_id, COUNT(*) FROM orders GROUP BY product_id")
