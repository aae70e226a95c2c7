import pandas as pd
import pyodbc

cnxn = pyodbc.connect("DSN=x")
cursor = cnxn.cursor()
df = pd.read_excel("sales.xlsx")
for index, row in df.iterrows():
    cursor.execute("INSERT INTO dbo.Sales (Id, Amount) values(?,?)", row.Id, row.Amount)  # expect: SW103
cnxn.commit()
