import logging
from datetime import datetime

from airflow.decorators import task

log = logging.getLogger(__name__)


@task
def check():
    log.info("checked at %s", datetime.now())
