"""The words of a failure."""

from __future__ import annotations

_MOST_LINKS = 20


def failure_text(error: BaseException) -> str:
    """What a failure and its causes say, all of it: Spark often names the reason only deep inside."""
    texts: list[str] = []
    link: BaseException | None = error
    while link is not None and len(texts) < _MOST_LINKS:
        texts.append(str(link))
        link = link.__cause__ or link.__context__
    return "\n".join(texts)
