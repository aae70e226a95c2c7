from sqlalchemy.orm import sessionmaker
Session = sessionmaker(bind=engine)
def load(rows):
    s = Session()
    for r in rows:
        s.merge(Order(**r))
    s.commit()
