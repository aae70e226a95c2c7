from sqlalchemy import Table, MetaData, create_engine
engine = create_engine("sqlite:///x.db")
meta = MetaData()
users = Table("users", meta, autoload_with=engine)
with engine.begin() as conn:
    conn.execute(users.insert(), [{"name": "a"}, {"name": "b"}])  # expect: SW103
