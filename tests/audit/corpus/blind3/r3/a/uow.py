import abc
from contextlib import contextmanager

from sqlalchemy import create_engine, text
from sqlalchemy.orm import sessionmaker

Session = sessionmaker(bind=create_engine("postgresql://x"))


class UnitOfWork:
    def __enter__(self):
        self.session = Session()
        return self

    def __exit__(self, *a):
        self.session.rollback()
        self.session.close()

    def commit(self):
        self.session.commit()


def rebuild_index(day):
    with UnitOfWork() as uow:
        uow.session.execute(text("DELETE FROM search_index WHERE day = :d"), {"d": day})
        uow.session.execute(text("INSERT INTO search_index SELECT id, :d, body FROM docs WHERE day = :d"), {"d": day})
        uow.commit()


@contextmanager
def session_scope():
    s = Session()
    try:
        yield s
        s.commit()
    except Exception:
        s.rollback()
        raise
    finally:
        s.close()


def rebuild_two(day):
    with session_scope() as s:
        s.execute(text("DELETE FROM agg WHERE day = :d"), {"d": day})
        s.execute(text("INSERT INTO agg SELECT :d, count(*) FROM docs"), {"d": day})


def bad(day):
    s = Session()
    s.execute(text("DELETE FROM agg2 WHERE day = :d"), {"d": day})  # expect: SW201 note
    s.commit()
    s.execute(text("INSERT INTO agg2 SELECT :d, count(*) FROM docs"), {"d": day})
    s.commit()