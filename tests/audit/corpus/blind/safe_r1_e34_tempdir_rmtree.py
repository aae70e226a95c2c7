import shutil
from pathlib import Path

import pandas as pd

WORK = Path("build/report")


def render(frame: pd.DataFrame) -> None:
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    (WORK / "index.html").write_text(frame.to_html())
    frame.to_csv(WORK / "data.csv", index=False)
    shutil.rmtree("build/tmp", ignore_errors=True)
