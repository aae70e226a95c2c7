import sqlglot

CASES = [
    "INSERT INTO t SELECT * FROM s",
    "DELETE FROM t",
    "MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
]
EXAMPLE = {"bad": "INSERT INTO t SELECT * FROM s", "good": "SELECT 1"}

for case in CASES:
    print(sqlglot.parse_one(case, read="spark").sql("snowflake"))
print(sqlglot.transpile("INSERT INTO t SELECT * FROM s", write="duckdb"))
