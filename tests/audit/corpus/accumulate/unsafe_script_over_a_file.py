import pandas as pd, psycopg2

def main():
    conn = psycopg2.connect("dbname=x")
    cur = conn.cursor()
    df = pd.read_csv("sales.csv")
    for _, r in df.iterrows():
        # expect: SW105
        cur.execute("UPDATE inventory SET quantity = quantity - %s WHERE product_id = %s", (r.qty, r.product_id))
    conn.commit()
