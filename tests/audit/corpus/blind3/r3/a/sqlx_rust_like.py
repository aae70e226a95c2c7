QUERY_INSERT = "INSERT INTO audit_events (kind, body) VALUES ($1, $2)"
QUERY_MERGE = """
MERGE INTO target USING source ON target.id = source.id WHEN NOT MATCHED THEN INSERT (id) VALUES (source.id)  -- expect: SW301 note
"""
HELP = """
usage: tool insert into TABLE select ...
"""