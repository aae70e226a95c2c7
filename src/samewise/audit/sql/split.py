"""A script into statements, also where it has no semicolons (T-SQL) or hides them in a procedure's body."""

from __future__ import annotations

from samewise.audit.sql.words import Word

_STARTS = frozenset(
    [
        "INSERT",
        "DELETE",
        "TRUNCATE",
        "MERGE",
        "UPDATE",
        "DROP",
        "CREATE",
        "ALTER",
        "EXEC",
        "EXECUTE",
        "CALL",
        "COMMIT",
        "ROLLBACK",
        "BEGIN",
        "IF",
        "ELSE",
        "ELSIF",
        "ELSEIF",
        "END",
        "WHILE",
        "FOR",
        "LOOP",
        "DECLARE",
        "SET",
        "PRINT",
        "RETURN",
        "RAISERROR",
        "THROW",
        "COPY",
        "REPLACE",
        "USE",
        "GRANT",
        "ANALYZE",
        "VACUUM",
        "REFRESH",
        "UNLOAD",
        "OPTIMIZE",
        "START",
        "RENAME",
        "UPSERT",
        "BULK",
        "LOAD",
    ]
)
_BLOCKS = frozenset(["BEGIN", "THEN", "ELSE", "LOOP", "TRY", "CATCH", "AS", "DO", "END", "TRANSACTION", "TRAN"])
_CONTINUES = frozenset(["FOR", "AFTER", "BEFORE", "OF", "OR", "ON", "GRANT", "REVOKE", ",", "(", ".", "KEY", "NOT"])
_DONE = frozenset(
    [
        "DELETE",
        "TRUNCATE",
        "DROP",
        "ALTER",
        "EXEC",
        "CALL",
        "PRINT",
        "COMMIT",
        "ROLLBACK",
        "BEGIN",
        "END",
        "ELSE",
        "USE",
        "GRANT",
        "ANALYZE",
        "START",
        "SET",
    ]
)
_AFTER_IF = frozenset({"INSERT", "DELETE", "TRUNCATE", "DROP", "MERGE", "EXEC", "ROLLBACK", "COMMIT"})
_ALTER_DROPS = frozenset(
    [
        "COLUMN",
        "CONSTRAINT",
        "PARTITION",
        "DEFAULT",
        "NOT",
        "PRIMARY",
        "INDEX",
        "FOREIGN",
        "IF",
        "KEY",
        "SWARM",
        "CLUSTERING",
    ]
)


def split(words: list[Word], text: str) -> list[list[Word]]:
    """The statements, in order. Words of control (IF, BEGIN, END) are statements of their own."""
    found: list[list[Word]] = []
    now: list[Word] = []
    depth = cases = 0
    for index, word in enumerate(words):
        upper = word.upper
        if word.kind == "mark":
            if upper in "([":
                depth += 1
            elif upper in ")]":
                depth = max(0, depth - 1)
            elif upper == ";":
                # A semicolon inside parentheses means that they were not balanced.
                depth = cases = 0
                if now:
                    found.append(now)
                now = []
                continue
        elif word.kind == "word" and depth == 0:
            if upper == "CASE":
                cases += 1
            elif upper == "END" and cases:
                cases -= 1
            elif now and not (cases and upper in ("ELSE", "END")) and _begins(words, index, now, text):
                found.append(now)
                now = []
                cases = 0
            if upper in ("GO", "/") and _alone(words, index, text):
                if now:
                    found.append(now)
                now = []
                continue
        now.append(word)
        if (upper == "THEN" and now[0].upper in ("IF", "ELSIF", "ELSEIF", "ELSE") and not cases) or (
            upper in ("BEGIN", "ELSE", "LOOP") and len(now) == 1 and not _is_transaction(words, index)
        ):
            found.append(now)
            now = []
    if now:
        found.append(now)
    return found


def _is_transaction(words: list[Word], index: int) -> bool:
    if words[index].upper != "BEGIN":
        return False
    after = words[index + 1].upper if index + 1 < len(words) else ";"
    return after in ("TRANSACTION", "TRAN", "WORK", ";", "ISOLATION", "READ", "IMMEDIATE", "EXCLUSIVE", "DEFERRED")


def _begins(words: list[Word], index: int, now: list[Word], text: str) -> bool:
    """Whether a statement begins here although the one before has no semicolon."""
    word, before = words[index], words[index - 1]
    after = words[index + 1].upper if index + 1 < len(words) else ""
    first = now[0].upper
    upper = word.upper
    new_line = "\n" in text[before.end : word.start]
    if upper in ("SELECT", "WITH"):
        if not new_line:
            return False
        if upper == "WITH" and after in ("(", "NO", "DATA", "TIME", "CHECK", "GRANT", "SCHEMA"):
            return False
        return first in _DONE or (upper == "WITH" and first in ("UPDATE",))
    if first == "IF" and upper in _AFTER_IF and before.upper not in ("NOT", "IF") and after not in ("=", ")", "("):
        return True
    if upper not in _STARTS or not (new_line or before.upper in _BLOCKS):
        return False
    if before.upper in _CONTINUES or after in (".", "=", ",", ")") or (after == "(" and upper not in ("IF", "WHILE")):
        return False
    merging = first == "MERGE" or (first == "WITH" and any(w.upper == "MERGE" for w in now))
    if before.upper == "THEN" and merging:
        return False
    if before.upper == "DO" and upper in ("UPDATE",):
        return False
    if before.upper == "AS" and first in ("WITH", "INSERT", "SELECT"):
        return False
    match upper:
        case "SET":
            return after.startswith("@") or after in ("NOCOUNT", "XACT_ABORT", "IMPLICIT_TRANSACTIONS", "ANSI_NULLS")
        case "REPLACE":
            return after == "INTO"
        case "EXECUTE" | "EXEC":
            return not (first == "CREATE" and after in ("AS", "FUNCTION", "PROCEDURE"))
        case "DROP":
            return not (first == "ALTER" and after in _ALTER_DROPS)
        case "RENAME":
            return first != "ALTER" and after == "TABLE"
        case "FOR":
            return first not in ("CREATE", "SELECT", "WITH", "INSERT", "DECLARE", "OPEN")
        case "INSERT" | "UPDATE" | "DELETE" | "MERGE" if first in ("WITH", "EXPLAIN"):
            return False
        case "IF" if first in ("CREATE", "DROP", "ALTER"):
            return new_line and after != "EXISTS" and not (after == "NOT" and _third(words, index) == "EXISTS")
        case "INSERT" if before.upper == "BULK":
            return False
        case "BULK":
            return after == "INSERT"
        case "START":
            return after == "TRANSACTION"
        case "USE" | "CALL" | "RETURN" | "ANALYZE" | "REFRESH" | "DECLARE":
            return new_line
        case _:
            return True


def _third(words: list[Word], index: int) -> str:
    return words[index + 2].upper if index + 2 < len(words) else ""


def _alone(words: list[Word], index: int, text: str) -> bool:
    """Whether a word is the only one on its line."""
    before = words[index - 1].end if index else 0
    after = words[index + 1].start if index + 1 < len(words) else len(text)
    word = words[index]
    return (index == 0 or "\n" in text[before : word.start]) and (
        index + 1 == len(words) or "\n" in text[word.end : after]
    )
