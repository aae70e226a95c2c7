from snowflake.snowpark import Session
from snowflake.snowpark.functions import when_matched, when_not_matched


def main(session: Session):
    target = session.table("core.customers")
    source = session.table("raw.customers").drop_duplicates("id")
    target.merge(
        source,
        target["id"] == source["id"],
        [when_matched().update({"name": source["name"]}), when_not_matched().insert({"id": source["id"], "name": source["name"]})],
    )
