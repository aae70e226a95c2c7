import subprocess
import datetime
import os
import shutil

day = datetime.date.today().isoformat()
subprocess.run(["pg_dump", "-f", f"/backup/{day}.sql", "app"], check=True)
shutil.rmtree(f"/backup/old", ignore_errors=True)
os.makedirs("/backup/old", exist_ok=True)