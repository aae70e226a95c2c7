"""Requests and messages."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samewise.audit.facts import HttpOp, KafkaOp, MarkOp
from samewise.audit.python.values import Const, Handle, Map, Ref, Seq, Str, Value, as_text, text_of

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter

_KEY = re.compile(
    r"idempoten|request-?id|x-request|dedup|client[_-]?token|external_?id|client_?ref|unique_?key|if-none-match|if-match|transaction_?id|nonce|message_?id|event_?id|reference_?id|order_?ref",
    re.IGNORECASE,
)
_READS = re.compile(
    r"^(query|grant_type|username|password|prompt|messages|inputs?|search|filter|filters|q|client_secret|refresh_token|jsonrpc|image|page|limit|cursor)$",
    re.IGNORECASE,
)
_HTTP = ("requests", "httpx", "niquests", "grequests", "curl_cffi.requests")
_MARK_NAME = re.compile(
    r"watermark|last_(run|load|sync|id|ts|date|processed|updated|extract)|bookmark|high_water", re.IGNORECASE
)


def call(
    run: Interpreter, node: ast.Call, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """HTTP clients, Kafka producers and consumers, places where progress is kept."""
    dotted = f"{owner.dotted}.{name}".strip(".") if isinstance(owner, Ref) else ""
    if dotted:
        made = _library(run, node, dotted, args, kwargs)
        if made is not None:
            return made
    if isinstance(owner, Handle) and owner.kind == "http":
        if name == "post" or (name == "request" and args and (text_of(args[0]) or "").upper() == "POST"):
            return _post(
                run, node, args[1:] if name == "request" else args, kwargs, owner.data, call_name=f"{owner.name}.post"
            )
        if name == "mount":
            return Value()
        return Value(name=name)
    if name == "post" and type(owner) is Value and _is_request(run, args, kwargs):
        return _post(run, node, args, kwargs, {}, call_name=f"{owner.name or 'session'}.post")
    if isinstance(owner, Handle) and owner.kind == "producer" and name in ("send", "produce", "send_and_wait"):
        return _produce(run, node, owner, args, kwargs)
    if isinstance(owner, Handle) and owner.kind == "consumer" and name == "commit":
        run.add(MarkOp(run.place(node), what="the consumer's offset"))
        return Const(value=None)
    if type(owner) is Value and name in ("send", "produce", "send_and_wait") and re.search(r"producer", owner.name):
        return _produce(run, node, Handle(kind="producer", data={"known": False}), args, kwargs)
    if name in ("write_text", "write") and args and isinstance(owner, Str | Handle):
        text = owner.text if isinstance(owner, Str) else str(owner.data.get("path", ""))
        if _MARK_NAME.search(text):
            run.add(MarkOp(run.place(node), what=text.rpartition("/")[2]))
            return Const(value=None)
    return None


def _is_request(run: Interpreter, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """A session that was handed in: known by the library, the address and the body."""
    known = any(one.partition(".")[0] in ("requests", "httpx", "aiohttp", "niquests") for one in run.imports)
    address = text_of(args[0]) if args else None
    return known and bool(address and re.match(r"https?://", address)) and bool({"json", "data"} & set(kwargs))


def _library(
    run: Interpreter, node: ast.Call, dotted: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    module, _, last = dotted.rpartition(".")
    if module in _HTTP and last == "post":
        return _post(run, node, args, kwargs, {}, call_name=dotted)
    if module in _HTTP and last == "request" and args and (text_of(args[0]) or "").upper() == "POST":
        return _post(run, node, args[1:], kwargs, {}, call_name=dotted)
    if dotted in ("requests.Session", "requests.session", "httpx.Client", "httpx.AsyncClient", "aiohttp.ClientSession"):
        headers = kwargs.get("headers")
        return Handle(kind="http", name=module, data={"headers": headers})
    if last in ("KafkaProducer", "Producer", "AIOKafkaProducer", "SerializingProducer", "AvroProducer") and (
        "kafka" in dotted.lower() or last != "Producer"
    ):
        return _producer(args, kwargs)
    if last in ("KafkaConsumer", "Consumer", "DeserializingConsumer", "AIOKafkaConsumer") and (
        "kafka" in dotted.lower() or last != "Consumer"
    ):
        return Handle(kind="consumer")
    if dotted.endswith("Variable.set") and args and isinstance(args[0], Str):
        if _MARK_NAME.search(args[0].text):
            run.add(MarkOp(run.place(node), what=args[0].text))
        return Const(value=None)
    if last == "open" and args and isinstance(args[0], Str) and len(args) > 1 and "w" in as_text(args[1]):
        return Handle(kind="file", data={"path": args[0].text})
    if dotted == "json.dump" and len(args) > 1 and isinstance(args[1], Handle) and args[1].kind == "file":
        if _MARK_NAME.search(str(args[1].data["path"])):
            run.add(MarkOp(run.place(node), what=str(args[1].data["path"]).rpartition("/")[2]))
        return Const(value=None)
    if last == "Path" and args and isinstance(args[0], Str):
        return args[0]
    return None


def _post(
    run: Interpreter,
    node: ast.Call,
    args: list[Value],
    kwargs: dict[str, Value],
    session: dict[str, object],
    *,
    call_name: str,
) -> Value:
    url = args[0] if args else kwargs.get("url") or Value()
    keyed, sure = False, True
    for one in (kwargs.get("headers"), session.get("headers")):
        if isinstance(one, Map):
            keyed = keyed or any(_KEY.search(key) for key in one.items)
            sure = sure and one.exact
        elif isinstance(one, Value):
            sure = False
            keyed = keyed or _KEY.search(one.name) is not None
    body = next(
        (kwargs[key] for key in ("json", "data", "params", "content") if key in kwargs),
        args[1] if len(args) > 1 else None,
    )
    if isinstance(body, Map):
        keyed = keyed or _names_itself(body)
        if body.items and all(_READS.match(key) for key in list(body.items)[:1]):
            keyed = True  # It asks for something: a login, a search.
    elif isinstance(body, Value) and not isinstance(body, Str) and body is not None:
        sure = sure and body.name in (
            "payload",
            "row",
            "record",
            "order",
            "event",
            "item",
            "body",
            "data",
            "message",
            "batch",
            "r",
            "rec",
            "invoice",
            "payment",
        )
    if kwargs.get("files") is not None or "**" in kwargs:
        sure = False
    if body is None:
        sure = False
        keyed = keyed or kwargs.get("auth") is not None  # Nothing is said but who asks: a login.
    text = url.text if isinstance(url, Str) else url.name
    text = re.sub(r"jj_(\w+?)_(?=\W|$)", r"{\1}", text)
    if not re.search(r"^https?://", text) and not text.startswith("/") and "{" not in text and not isinstance(url, Str):
        text = text or "url"
    run.add(HttpOp(run.place(node), url=text, keyed=keyed, sure=sure and isinstance(url, Str), call=call_name))
    return Value(name="response")


def _names_itself(body: Value, depth: int = 3) -> bool:
    """Whether what is sent carries a key, at the top or in the records inside."""
    if isinstance(body, Map):
        return any(_KEY.search(key) for key in body.items) or (
            depth > 0 and any(_names_itself(one, depth - 1) for one in body.items.values())
        )
    return isinstance(body, Seq) and depth > 0 and any(_names_itself(one, depth - 1) for one in body.items[:3])


def _producer(args: list[Value], kwargs: dict[str, Value]) -> Handle:
    config: dict[str, Value] = dict(kwargs)
    known = "**" not in kwargs
    for one in args:
        if isinstance(one, Map):
            config.update(one.items)
            known = known and one.exact
        else:
            known = False
    idempotent = False
    for key in ("enable.idempotence", "enable_idempotence", "transactional.id", "transactional_id"):
        value = config.get(key)
        if value is not None:
            idempotent = not (isinstance(value, Const) and value.value is False)
    return Handle(kind="producer", data={"idempotent": idempotent, "known": known})


def _produce(run: Interpreter, node: ast.Call, owner: Handle, args: list[Value], kwargs: dict[str, Value]) -> Value:
    key = kwargs.get("key")
    if key is None and len(args) > 2:
        key = args[2]
    keyed = key is not None and not (isinstance(key, Const) and key.value is None)
    topic = text_of(args[0] if args else kwargs.get("topic")) or ""
    run.add(
        KafkaOp(
            run.place(node), topic=topic, keyed=keyed or "**" in kwargs, idempotent=bool(owner.data.get("idempotent")),
            sure=bool(owner.data.get("known", True)),
        )
    )  # fmt: skip
    return Value()
