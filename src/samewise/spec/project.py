"""`samewise.yaml`: where things are, and on which Spark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from samewise.core.errors import UsageError
from samewise.spec.connections import ConnectionSpec
from samewise.spec.fields import Model, Name, OptionValues, TableName, Text, text_of, wrong
from samewise.spec.templates import is_template
from samewise.spec.times import Duration
from samewise.spec.words import shown, unknown

DEFAULT_STATE = "sqlite:///.samewise/state.db"
_DEFAULT_MASTER = "local[*]"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+]*)://")


def state_url(text: str) -> str:
    """The URL as SQLAlchemy wants it. ValueError for one that cannot be a state store."""
    match = _SCHEME.match(text)
    scheme = match[1].lower() if match else ""
    if scheme == "sqlite":
        if not text.lower().startswith("sqlite:///") or text[len("sqlite:///") :] in ("", ":memory:"):
            raise ValueError("must name a file: a state in memory would be forgotten with the process")
        return text
    if scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        return "postgresql+psycopg" + text[len(scheme) :]
    # The text may hold a password: only its scheme is shown.
    found = shown(scheme) if scheme else "a text without ://"
    raise ValueError(f"must be a sqlite:/// or postgresql:// URL, not {found}")


def _state_url(value: object) -> str:
    text = text_of(value)
    if is_template(text) and _SCHEME.match(text) is None:
        # Checked when it is filled in.
        return text
    try:
        return state_url(text)
    except ValueError as error:
        raise wrong(str(error)) from None


StateUrl = Annotated[
    str,
    BeforeValidator(_state_url),
    WithJsonSchema({"type": "string", "minLength": 1}),
]


class SparkSpec(Model):
    """Which Spark to use: a master to start on, or a Spark Connect server to talk to."""

    master: Text | None = None
    remote: Text | None = Field(default=None, repr=False)
    conf: OptionValues = Field(default_factory=dict, repr=False)

    @model_validator(mode="after")
    def _either(self) -> SparkSpec:
        if self.master is not None and self.remote is not None:
            raise wrong("excludes 'master': name one of the two", at="remote")
        return self

    @property
    def effective_master(self) -> str | None:
        """The master to start on; None where a Connect server is used."""
        return None if self.remote is not None else self.master or _DEFAULT_MASTER


class BackfillSpec(Model):
    """How much a backfill publishes in one commit at most; a larger window goes alone."""

    windows: int = Field(default=100, ge=1, le=1000)
    megabytes: int = Field(default=256, ge=1)
    rows: int = Field(default=5_000_000, ge=1)


class EnvSpec(Model):
    """What `--env NAME` lays over the project's own settings."""

    warehouse: Text | None = None
    state: StateUrl | None = Field(default=None, repr=False)
    catalog: TableName | None = None
    staging: Text | None = None
    quarantine: Text | None = None
    lease: Duration | None = None
    spark: SparkSpec | None = None
    connections: Mapping[Name, ConnectionSpec] = Field(default_factory=dict, repr=False)
    """Each takes the whole place of the project's own of that name."""


class ProjectSpec(Model):
    """A project's settings, as written; `Loaded` says what they mean on this machine."""

    project: Name
    warehouse: Text = "warehouse"
    state: StateUrl = Field(default=DEFAULT_STATE, repr=False)
    """Hidden from `repr`, as `spark` is: it may hold a password."""
    catalog: TableName | None = None
    staging: Text | None = None
    quarantine: Text = "quarantine"
    lease: Duration = timedelta(seconds=60)
    backfill: BackfillSpec = Field(default_factory=BackfillSpec)
    spark: SparkSpec = Field(default_factory=SparkSpec)
    connections: Mapping[Name, ConnectionSpec] = Field(default_factory=dict, repr=False)
    envs: Mapping[Name, EnvSpec] = Field(default_factory=dict)

    def with_env(self, name: str | None) -> ProjectSpec:
        """These settings with those of the environment `name` laid over them."""
        if name is None:
            return self
        if name not in self.envs:
            if not self.envs:
                raise UsageError(
                    f"unknown environment {shown(name)}: samewise.yaml has no envs:",
                    next_step="run without --env, or add the environment under envs:",
                )
            raise UsageError(unknown("environment", name, self.envs), next_step="run again with one of these")
        overlay = self.envs[name]
        changes: dict[str, Any] = {
            field: getattr(overlay, field)
            for field in overlay.model_fields_set - {"spark", "connections"}
            if getattr(overlay, field) is not None or field in ("catalog", "staging")
        }
        if overlay.spark is not None:
            changes["spark"] = _overlaid(self.spark, overlay.spark)
        changes["connections"] = {**self.connections, **overlay.connections}
        return self.model_copy(update=changes)


def _overlaid(base: SparkSpec, overlay: SparkSpec) -> SparkSpec:
    # A remote laid over a master replaces it, and the other way round: only one of them can be meant.
    chosen = overlay if overlay.master is not None or overlay.remote is not None else base
    return SparkSpec(master=chosen.master, remote=chosen.remote, conf={**base.conf, **overlay.conf})
