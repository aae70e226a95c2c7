from concurrent.futures import ThreadPoolExecutor

from mylib import runner, task_queue

pool = ThreadPoolExecutor()
pool.submit(print, "INSERT INTO t SELECT * FROM s")
task_queue.execute("copy")
runner.execute("merge", target="x")
