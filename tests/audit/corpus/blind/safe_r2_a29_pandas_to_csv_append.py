import pandas as pd

df = pd.DataFrame({"at": [pd.Timestamp.now()], "cpu": [0.5]})
df.to_csv("metrics.log.csv", mode="a", header=False)
