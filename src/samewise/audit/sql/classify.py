"""Words of a statement -> what it does. By words alone, so that it works on what no parser takes."""

from __future__ import annotations

from samewise.audit.sql.statement import TRANSACTION_WORDS, Statement, behind_alias, find_sources, table_at
from samewise.audit.sql.words import Word, bare

_VERBS = ("INSERT", "MERGE", "DELETE", "UPDATE", "SELECT", "REPLACE", "VALUES", "UPSERT")


def classify(words: list[Word], text: str, dialect: str) -> Statement:
    """What these words do."""
    start = words[0].start
    made = Statement(words, text[start : words[-1].end], start, dialect)
    verb_at, ctes = _verb(words)
    made.ctes = ctes
    uppers = made.uppers
    verb = uppers[verb_at] if verb_at < len(words) else ""
    match verb:
        case "INSERT" | "UPSERT":
            _insert(made, verb_at)
        case "REPLACE":
            made.kind = "upsert"
            made.target, _ = table_at(words, verb_at + (2 if _at(uppers, verb_at + 1) == "INTO" else 1))
        case "MERGE":
            made.kind = "merge"
            made.target, _ = table_at(words, verb_at + (2 if _at(uppers, verb_at + 1) == "INTO" else 1))
        case "DELETE":
            made.kind = "delete"
            after = verb_at + (2 if _at(uppers, verb_at + 1) == "FROM" else 1)
            made.target, after = table_at(words, after)
            made.target = behind_alias(words, after, made.target)
        case "UPDATE":
            made.kind = "update"
            made.target, _ = table_at(words, verb_at + (2 if _at(uppers, verb_at + 1) == "ONLY" else 1))
        case "TRUNCATE":
            made.kind = "truncate"
            after = verb_at + 1
            while _at(uppers, after) in ("TABLE", "ONLY", "IF", "EXISTS", "REUSE"):
                after += 1
            made.target, _ = table_at(words, after)
        case "DROP":
            _drop(made, verb_at)
        case "CREATE":
            _create(made, verb_at)
        case "ALTER" | "RENAME" | "EXEC" | "EXECUTE":
            _rename(made, verb_at)
        case "COPY" | "\\COPY":
            _copy(made, verb_at)
        case "LOAD" if "INTO" in uppers and _at(uppers, 1) == "DATA":
            _load_data(made)
        case "BULK" if _at(uppers, 1) == "INSERT":
            made.kind = "copy"
            made.target, _ = table_at(words, 2)
        case "BEGIN" | "START":
            after_word = _at(uppers, verb_at + 1)
            made.kind = "begin" if len(words) == 1 or after_word in TRANSACTION_WORDS else "other"
            if verb == "BEGIN" and len(words) == 1:
                made.kind = "begin_or_block"
        case "COMMIT":
            made.kind = "commit"
        case "ROLLBACK":
            made.kind = "rollback"
        case "END":
            made.kind = "commit" if _at(uppers, 1) in ("TRANSACTION", "WORK") else "end"
        case "IF" | "ELSE" | "ELSIF" | "ELSEIF" | "WHILE" | "FOR" | "LOOP":
            made.kind = "control"
        case "SET" | "DECLARE":
            made.kind = "set"
        case "SELECT" | "VALUES":
            made.kind = "select"
            into = uppers.index("INTO") if "INTO" in uppers else -1
            temporary = _at(uppers, into + 1) in ("TEMP", "TEMPORARY")
            if into >= 0 and (dialect == "tsql" or temporary):
                made.kind = "ctas"
                made.target, _ = table_at(words, into + (2 if temporary else 1))
                made.modifiers = frozenset({"temp"} if temporary else ())
        case _:
            made.kind = "other"
    if made.writes or made.kind in ("select", "delete", "set"):
        made.sources = tuple(s for s in find_sources(words[verb_at:] if not ctes else words))
    return made


def _at(uppers: list[str], index: int) -> str:
    return uppers[index] if 0 <= index < len(uppers) else ""


def _verb(words: list[Word]) -> tuple[int, frozenset[str]]:
    """Where the main verb stands: after the CTEs, if there are any."""
    if words[0].upper not in ("WITH", "EXPLAIN"):
        return 0, frozenset()
    depth, names = 0, set[str]()
    for index, word in enumerate(words):
        if word.text == "(":
            depth += 1
        elif word.text == ")":
            depth -= 1
        elif depth == 0 and word.upper in _VERBS and index:
            return index, frozenset(names)
        elif depth == 0 and word.upper == "AS" and index:
            names.add(bare(words[index - 1]) if words[index - 1].text != ")" else _before_list(words, index))
    return 0, frozenset(names)


def _before_list(words: list[Word], index: int) -> str:
    while index and words[index].text != "(":
        index -= 1
    return bare(words[index - 1])


def _insert(made: Statement, at: int) -> None:
    words, uppers = made.words, made.uppers
    marks: set[str] = set()
    at += 1
    made.kind = "insert"
    if uppers[at - 1] == "UPSERT":
        marks.add("ignore")
    while _at(uppers, at) in (
        *("INTO", "OVERWRITE", "TABLE", "OR", "IGNORE", "REPLACE", "LOCAL", "DIRECTORY", "LOW_PRIORITY"),
        *("DELAYED", "HIGH_PRIORITY", "ALL", "FIRST", "ROLLBACK", "ABORT", "FAIL"),
    ):
        word = uppers[at]
        if word == "OVERWRITE":
            marks.add("overwrite")
        elif word in ("IGNORE", "REPLACE"):
            marks.add("ignore")
        elif word == "DIRECTORY":
            marks.add("directory")
        at += 1
    if _at(uppers, at) == "WHEN" and "INTO" in uppers:
        # INSERT ALL WHEN ... THEN INTO a ... ELSE INTO b ... SELECT: the first of them stands for all.
        made.target, _ = table_at(words, uppers.index("INTO") + 1)
        made.modifiers = frozenset(marks)
        return
    made.target, at = table_at(words, at)
    if _at(uppers, at) == "AS":
        at += 2
    at = _partition(made, at, marks)
    if _at(uppers, at) == "(" and _at(uppers, at + 1) not in ("SELECT", "WITH"):
        end = _closing(words, at)
        made.columns = tuple(bare(w) for w in words[at + 1 : end] if w.kind in ("word", "quoted"))
        at = end + 1
    at = _partition(made, at, marks)
    rest = uppers[at:]
    if "overwrite" in marks:
        made.kind = "overwrite"
    elif "VALUES" in rest or "VALUE" in rest[:1]:
        first = min((rest.index(w) for w in ("VALUES", "VALUE") if w in rest), default=0)
        if "SELECT" not in rest or ("SELECT" in rest and rest.index("SELECT") > first):
            made.kind = "values"
    elif ("SELECT" in uppers and "FROM" not in uppers) or "DEFAULT" in rest[:1] or ("SET" in rest[:1]):
        made.kind = "values"
    elif "SELECT" not in uppers and "TABLE" not in rest and "WITH" not in rest and "EXEC" not in rest:
        made.kind = "values" if made.columns or "(" in rest else "insert"
    made.modifiers = frozenset(marks)


def _partition(made: Statement, at: int, marks: set[str]) -> int:
    if _at(made.uppers, at) != "PARTITION":
        return at
    end = _closing(made.words, at + 1)
    inside = made.uppers[at + 2 : end]
    marks.add("partition")
    names = 1 + inside.count(",")
    if inside.count("=") < names:
        marks.add("dynamic")
    made.partition_text = " ".join(w.text for w in made.words[at + 2 : end])
    return end + 1


def _closing(words: list[Word], at: int) -> int:
    depth = 0
    for index in range(at, len(words)):
        if words[index].text == "(":
            depth += 1
        elif words[index].text == ")":
            depth -= 1
            if depth <= 0:
                return index
    return len(words) - 1


def _drop(made: Statement, at: int) -> None:
    uppers = made.uppers
    at += 1
    while _at(uppers, at) in ("EXTERNAL", "TEMPORARY", "TEMP"):
        at += 1
    if _at(uppers, at) != "TABLE":
        return
    made.kind = "drop"
    at += 1
    while _at(uppers, at) in ("IF", "EXISTS"):
        at += 1
    made.target, _ = table_at(made.words, at)


def _create(made: Statement, at: int) -> None:
    uppers = made.uppers
    marks: set[str] = set()
    at += 1
    while _at(uppers, at) in (
        *("OR", "REPLACE", "TEMP", "TEMPORARY", "GLOBAL", "LOCAL", "TRANSIENT", "UNLOGGED", "EXTERNAL", "VOLATILE"),
        *("MULTISET", "HYBRID", "FOREIGN", "ALTER", "VIRTUAL"),
    ):
        if uppers[at] == "REPLACE":
            marks.add("or_replace")
        elif uppers[at] in ("TEMP", "TEMPORARY", "VOLATILE"):
            marks.add("temp")
        at += 1
    what = _at(uppers, at)
    if what in ("PROCEDURE", "PROC", "FUNCTION", "TRIGGER", "TASK", "EVENT", "PACKAGE"):
        made.kind = "routine"
        made.modifiers = frozenset({what.lower()})
        return
    if what != "TABLE":
        made.kind = "view" if "VIEW" in uppers[:6] else "other"
        return
    at += 1
    if _at(uppers, at) == "IF":
        marks.add("if_not_exists")
        at += 3
    made.target, at = table_at(made.words, at)
    made.kind = "create"
    depth = 0
    for index in range(at, len(uppers)):
        if uppers[index] == "(":
            depth += 1
        elif uppers[index] == ")":
            depth -= 1
        elif (
            depth == 0 and uppers[index] in ("SELECT", "WITH") and _at(uppers, index + 1) not in ("(", "DISTRIBUTION")
        ) or (uppers[index] == "SELECT" and "AS" in uppers[at:index]):
            made.kind = "ctas"
            break
        elif depth == 0 and uppers[index] in ("CLONE", "DEEP"):
            made.kind = "ctas"
    if "LIKE" in uppers[at : at + 3]:
        marks.add("like")
    made.modifiers = frozenset(marks)


def _rename(made: Statement, at: int) -> None:
    """ALTER TABLE a RENAME TO b, RENAME TABLE a TO b, sp_rename 'a', 'b', ALTER TABLE a SWAP WITH b."""
    uppers, words = made.uppers, made.words
    if uppers[at] in ("EXEC", "EXECUTE"):
        if "SP_RENAME" in uppers:
            made.kind = "rename"
            names = [w.text.strip("N'").lower() for w in words if w.kind == "string"]
            made.sources = tuple(names[:1])
            made.target = names[1] if len(names) > 1 else ""
        return
    if "TABLE" not in uppers[at + 1 : at + 3]:
        return
    first = uppers.index("TABLE") + 1
    while _at(uppers, first) in ("IF", "EXISTS", "ONLY"):
        first += 1
    source, after = table_at(words, first)
    if "SWAP" in uppers[after : after + 1] or "EXCHANGE" in uppers[after:] or "SWITCH" in uppers[after : after + 1]:
        made.kind, made.target = "swap", source
    elif "RENAME" in (*uppers[after : after + 1], uppers[at]) and "TO" in uppers[after:]:
        to = uppers.index("TO", after) + 1
        if _at(uppers, to - 2) in ("COLUMN", "PARTITION") or "COLUMN" in uppers[after:to]:
            return
        made.kind = "swap" if uppers[after:].count("TO") > 1 else "rename"
        made.sources = (source,)
        made.target, _ = table_at(words, to)
        made.target = made.target or ""
    elif "DROP" in uppers[after : after + 1] and "PARTITION" in uppers[after : after + 4]:
        made.kind, made.target = "delete", source


def _load_data(made: Statement) -> None:
    """LOAD DATA ... [OVERWRITE | REPLACE | IGNORE] INTO TABLE t: Hive, MySQL, BigQuery."""
    uppers = made.uppers
    into = uppers.index("INTO")
    made.kind = "copy"
    made.target, _ = table_at(made.words, into + (2 if _at(uppers, into + 1) == "TABLE" else 1))
    if uppers[into - 1] in ("OVERWRITE", "REPLACE", "IGNORE") or "OVERWRITE" in uppers[:into]:
        made.modifiers = frozenset({"ignore"})


def _copy(made: Statement, at: int) -> None:
    uppers = made.uppers
    into = _at(uppers, at + 1) == "INTO"
    made.target, after = table_at(made.words, at + (2 if into else 1))
    if _at(uppers, after) == "(" and made.target:
        end = _closing(made.words, after)
        made.columns = tuple(bare(w) for w in made.words[after + 1 : end] if w.kind in ("word", "quoted"))
        after = end + 1
    if "FROM" in uppers[after : after + 1]:
        made.kind = "copy"
        if into and "FORCE" not in uppers:
            # Snowflake's and Databricks' COPY INTO remember which files they have loaded.
            made.modifiers = frozenset({"ignore"})
    else:
        made.kind, made.target = "other", ""
