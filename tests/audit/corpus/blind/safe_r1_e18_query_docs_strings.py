import logging

logger = logging.getLogger(__name__)

HELP = """
usage: loader run
  insert into the table what is in the file;
  merge into an older one with --merge
"""


def run(mode):
    logger.info("INSERT INTO audit SELECT done for %s", mode)
    print("delete from the list, then insert it again")
    if mode in ("merge", "insert", "copy", "truncate"):
        execute_mode("merge")
        run_step("truncate")
        submit("insert")
    raise ValueError("cannot insert into a closed ledger")
