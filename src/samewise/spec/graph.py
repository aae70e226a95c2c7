"""`depends_on`: every name is there, and nothing waits for itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from samewise.spec.sentences import Complaint
from samewise.spec.words import closest
from samewise.spec.yaml_text import KeyPath


def check_graph(tasks: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Complaint]:
    """Complaints about tasks given as (name, depends_on), in the file's order."""
    index_of: dict[str, int] = {}
    for index, (task, needed) in enumerate(tasks):
        if index_of.setdefault(task, index) != index:
            yield Complaint(("tasks", index, "task"), f"another task is called '{task}' too")
        for place, name in enumerate(needed):
            if name in needed[:place]:
                yield Complaint(("tasks", index, "depends_on", place), f"names '{name}' twice")
    for index, (_, needed) in enumerate(tasks):
        for place, name in enumerate(needed):
            if name not in index_of:
                path: KeyPath = ("tasks", index, "depends_on", place)
                meant = closest(name, index_of)
                hint = f", did you mean '{meant}'?" if meant else ""
                yield Complaint(path, f"there is no task '{name}' in this pipeline{hint}")
    for cycle in _cycles(dict(reversed(tasks))):
        first = min(cycle, key=lambda name: index_of[name])
        turned = [*cycle[cycle.index(first) :], *cycle[: cycle.index(first)], first]
        path = ("tasks", index_of[first], "depends_on")
        yield Complaint(path, f"goes round in a circle: {' -> '.join(turned)}")


def _cycles(graph: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """At least one circle of every tangle, found by walking each way once."""
    done: set[str] = set()
    for start in graph:
        trail = [start] if start not in done else []
        ways = [iter(graph[start])] if trail else []
        while ways:
            following = next((name for name in ways[-1] if name in graph and name not in done), None)
            if following is None:
                done.add(trail.pop())
                ways.pop()
            elif following in trail:
                yield trail[trail.index(following) :]
            else:
                trail.append(following)
                ways.append(iter(graph[following]))
