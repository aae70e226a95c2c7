import pandas as pd

df = pd.read_html("https://example.org/table")[0]
df.to_csv("prices.csv", mode="a", header=False)  # expect: SW101
