import subprocess


def run(cmd, **kwargs):
    return subprocess.run(cmd, check=True, **kwargs)


run(["git", "merge", "main"])
run("copy a.txt b.txt", shell=True)
run_command("merge")
exec_tool("insert", "delete")
runner = Runner()
runner.run("truncate -s 0 app.log")
runner.submit("update all packages")
runner.query("delete me")
