"""Flows through the rules: findings, and what they mean for each write."""

from __future__ import annotations

from collections.abc import Iterable

from samewise.audit.facts import Flow, FrameOp, HttpOp, KafkaOp, ModelOp, Op, SqlOp, StreamOp
from samewise.audit.finding import Collected, Finding, Level, TableFact, Verdict, Write
from samewise.audit.rules import RULES
from samewise.audit.rules.base import shown
from samewise.audit.sql.ddl import table_fact
from samewise.audit.sql.statement import is_scratch

_ABOUT_OTHERS = frozenset({"SW501"})


def judge(flows: Iterable[Flow], collected: Collected) -> None:
    """Ask every rule about every flow. What two flows say of the same place is said once, the worse of it."""
    seen: dict[tuple[object, ...], int] = {}
    writes: dict[tuple[object, ...], Write] = {}
    for flow in flows:
        flow.findings = [f for rule in RULES if rule.id not in _ABOUT_OTHERS for f in rule.check(flow)]
        flow.findings += [f for rule in RULES if rule.id in _ABOUT_OTHERS for f in rule.check(flow)]
        for finding in flow.findings:
            _keep(collected.findings, seen, finding)
        for op in flow.ops:
            write = _write(op, flow)
            if write is not None:
                key = (write.place, write.kind, write.target)
                old = writes.get(key)
                writes[key] = write if old is None or _worse(write.verdict, old.verdict) else old
            if isinstance(op, SqlOp) and op.statement.kind == "create":
                fact = table_fact(op.statement)
                if fact is not None:
                    collected.tables.append(fact)
    collected.writes.extend(writes.values())


def _keep(findings: list[Finding], seen: dict[tuple[object, ...], int], finding: Finding) -> None:
    key = (finding.rule, finding.place.line, finding.place.cell)
    if key not in seen:
        seen[key] = len(findings)
        findings.append(finding)
    elif finding.level.rank < findings[seen[key]].level.rank:
        findings[seen[key]] = finding


def _worse(one: Verdict, other: Verdict) -> bool:
    order = [Verdict.SAFE, Verdict.UNSURE, Verdict.UNSAFE]
    return order.index(one) > order.index(other)


def _write(op: Op, flow: Flow) -> Write | None:
    """The write that an operation is; None for those that are not, or are of no consequence."""
    if isinstance(op, ModelOp):
        kind, target = str(op.config.get("materialized") or "view"), op.name
        if kind in ("view", "ephemeral"):
            return None
    elif isinstance(op, SqlOp):
        if not op.statement.writes or is_scratch(op.statement.target) or "temp" in op.statement.modifiers:
            return None
        kind, target = op.statement.kind, op.statement.target
    elif isinstance(op, FrameOp):
        kind, target = op.mode, op.target
    elif isinstance(op, StreamOp):
        kind, target = "stream", op.target
    elif isinstance(op, HttpOp):
        kind, target = "post", op.url
    elif isinstance(op, KafkaOp):
        kind, target = "produce", op.topic
    else:
        return None
    return Write(op.place, kind, target, _verdict(op, flow.findings))


def _verdict(op: Op, findings: list[Finding]) -> Verdict:
    verdict = Verdict.SAFE
    for finding in findings:
        if finding.rule in _ABOUT_OTHERS or not _about(op, finding):
            continue
        if finding.level is not Level.NOTE:
            return Verdict.UNSAFE
        verdict = Verdict.UNSURE
    return verdict


def _about(op: Op, finding: Finding) -> bool:
    target = shown(_target(op))
    if finding.target and target and finding.target != target:
        return False  # Another write of the same line: a helper that is called twice.
    spots = [finding.place, *(related.place for related in finding.related)]
    return any(op.place.line <= spot.line <= op.place.last_line and spot.cell == op.place.cell for spot in spots)


def _target(op: Op) -> str:
    if isinstance(op, ModelOp):
        return op.name
    if isinstance(op, SqlOp):
        return op.statement.target
    return op.target if isinstance(op, FrameOp | StreamOp) else ""


def known_tables(facts: Iterable[TableFact]) -> dict[str, list[TableFact]]:
    """Tables by the last part of their name."""
    found: dict[str, list[TableFact]] = {}
    for fact in facts:
        found.setdefault(fact.name.rpartition(".")[2], []).append(fact)
    return found
