import pandas as pd
import pyodbc

cnxn = pyodbc.connect("DSN=dwh")
cursor = cnxn.cursor()
cursor.fast_executemany = True
df = pd.read_excel("budget.xlsx")
# expect: SW103
sql = "INSERT INTO dbo.Budget (Dept, Month, Amount) VALUES (?, ?, ?)"
cursor.executemany(sql, df[["Dept", "Month", "Amount"]].values.tolist())
cnxn.commit()
