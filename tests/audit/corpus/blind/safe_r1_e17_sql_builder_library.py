"""A little query builder: it makes statements and runs none."""


def compile_insert(table, columns):
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('%s' for _ in columns)})"


def compile_copy(table):
    return render(f"COPY {table} FROM STDIN WITH (FORMAT csv)")


def render(text):
    return " ".join(text.split())


class Statement:
    def __init__(self, table):
        self.parts = [f"DELETE FROM {table}"]

    def select(self, source):
        self.parts.append(f"INSERT INTO t SELECT * FROM {source}")
        return self

    def run_checks(self):
        return check_sql("\n".join(self.parts))


def check_sql(text):
    assert "drop" not in text.lower()
    return text


print(format_query("INSERT INTO t SELECT * FROM s"))
parse_sql("INSERT INTO t SELECT * FROM s", dialect="spark")
validate_query(sql="DELETE FROM a; INSERT INTO a SELECT * FROM b")
