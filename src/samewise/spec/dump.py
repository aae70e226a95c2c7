"""A spec back to YAML: what `samewise` writes, `samewise` reads."""

from __future__ import annotations

from typing import Any

from samewise.spec.pipeline import PipelineSpec
from samewise.spec.project import ProjectSpec
from samewise.spec.yaml_text import scalar


def dump_spec(spec: PipelineSpec | ProjectSpec) -> str:
    """YAML that loads as an equal spec. What has its default is left out."""
    import yaml

    data: dict[str, Any] = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if isinstance(spec, PipelineSpec) and spec.params:
        # As they are, not as JSON: a date must come back as a date.
        data["params"] = dict(spec.params)

    class Dumper(yaml.SafeDumper):
        """PyYAML puts quotes where it would read something else than text; here, where our reader would."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        plain = scalar(value) == value
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if plain else "'")

    Dumper.add_representer(str, text)
    return str(yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=False, width=110))
