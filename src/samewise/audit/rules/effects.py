"""Effects elsewhere: SW601, SW602."""

from __future__ import annotations

import re
from collections.abc import Iterator

from samewise.audit.facts import Flow, HttpOp, KafkaOp
from samewise.audit.finding import Finding, Fix, Level
from samewise.audit.rules.base import found, named, swap
from samewise.audit.rules.shared import quiet

_ASKS = re.compile(
    r"search|query|graphql|login|token|auth|oauth|session|sign_?in|predict|infer|embed|complet|chat|generat|translat|validat"
    r"|verif|lookup|find|/list|report|export|download|rpc|scroll|batch_?get|webhook|slack|discord|teams|telegram|pagerduty"
    r"|notif|alert|metric|/track\b|segment\.|analytics|/write\b|_bulk\b|/push\b|influx|loki|telemetry|collect|/log|health|ping|refresh|callback|hooks?\.|hook_url|transform|convert|render"
    r"|calculat|estimat|quote|preview|dry_?run|statement|sql|read|fetch|/get|ocr|classif|score|trigger|ntfy|sentry|form|invocation|serving-|/(mkdirs?|destroy|cancel|close|stop|delete|terminate|pause|resume)\b",
    re.IGNORECASE,
)


_LOCAL = re.compile(r"https?://(localhost|127\.0\.0\.1|0\.0\.0\.0)\b")
"""One's own service, tried out by hand."""


def post(flow: Flow) -> Iterator[Finding]:
    """SW601: a POST that is sent again does again what it did."""
    if quiet(flow) or flow.context.web:
        return
    for op in flow.ops:
        if not isinstance(op, HttpOp) or op.keyed or _ASKS.search(op.url) or _LOCAL.match(op.url):
            continue
        retried = op.retry is not None or (op.task is not None and op.task.retry is not None)
        repeated = retried or op.task is not None or op.loop > 0 or flow.context.pipeline
        known = re.search(r"https?://[^/{]+/\w|/\w+", op.url) is not None
        if not known and not repeated:
            continue
        known = known and (repeated or re.match(r"https?://[^/{]", op.url) is not None)
        wraps = not retried and op.task is None and (flow.context.client or _is_method(flow, op))
        unsure = not op.sure or not known or wraps
        yield found(
            "SW601",
            op,
            Level.ERROR if retried and known else Level.WARNING,
            f"{op.method} to {named(op.url, 'an API')} carries no idempotency key: sent again, it"
            f" does again what it did",
            Fix(
                "send a key that is the same for the same thing:"
                ' headers={"Idempotency-Key": str(uuid.uuid5(uuid.NAMESPACE_URL, <what identifies it>))}',
                swap(flow.context, op.place, r"\)\s*$", ', headers={"Idempotency-Key": idempotency_key})'),
            ),
            unsure=unsure,
            target=op.url,
        )


def _is_method(flow: Flow, op: HttpOp) -> bool:
    """A method of a class that nothing here calls wraps the API for others: they know whether they repeat it."""
    return flow.name != "<module>" and "." in op.scope


def produce(flow: Flow) -> Iterator[Finding]:
    """SW602: a message sent by something that is repeated, without idempotence or a key."""
    if quiet(flow):
        return
    for op in flow.ops:
        if not isinstance(op, KafkaOp) or op.keyed or op.idempotent:
            continue
        retry = op.retry or (op.task.retry if op.task is not None else None)
        if retry is None:
            continue
        yield found(
            "SW602",
            op,
            Level.WARNING,
            f"{retry.what} sends the messages to {named(op.topic, 'the topic')} again, and nothing"
            f" tells the copies apart: no key, no idempotent producer",
            Fix(
                "give each message a key that identifies it (key=...), and the producer enable.idempotence=true",
                swap(flow.context, op.place, r"\)\s*$", ", key=message_key)"),
            ),
            unsure=not op.sure,
            target=op.topic,
        )
