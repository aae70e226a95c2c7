"""JSON Schemas of the two kinds of file, so that editors complete and check them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from samewise.spec.connections import ConnectionSpec
from samewise.spec.pipeline import PipelineSpec, Retries
from samewise.spec.project import ProjectSpec
from samewise.spec.times import format_duration

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def project_json_schema() -> dict[str, Any]:
    """For `samewise.yaml`."""
    schema = ProjectSpec.model_json_schema()
    # Pydantic would show the default as an ISO 8601 duration, which the file does not take.
    schema["properties"]["lease"]["default"] = format_duration(ProjectSpec.model_fields["lease"].default)
    default = format_duration(ConnectionSpec.model_fields["lock_timeout"].default)
    schema["$defs"]["ConnectionSpec"]["properties"]["lock_timeout"]["default"] = default
    return {"$schema": _DIALECT, **schema, "title": "Samewise project"}


def pipeline_json_schema() -> dict[str, Any]:
    """For `pipelines/*.yaml`: one task written flat, or a list of `tasks`."""
    schema = PipelineSpec.model_json_schema()
    definitions = schema.pop("$defs")
    for name in ("backoff", "max_backoff"):
        default = format_duration(Retries.model_fields[name].default)
        definitions["Retries"]["properties"][name]["default"] = default
    for name in ("TableRef", "DeltaSource", "DeltaTarget"):
        definitions[name]["oneOf"] = [{"required": ["table"]}, {"required": ["path"]}]
    task = definitions["TaskSpec"]
    flat = deepcopy(schema)
    del flat["properties"]["tasks"]
    own = {name: part for name, part in task["properties"].items() if name not in ("task", "depends_on")}
    flat["properties"] |= own
    flat["required"] = ["pipeline", *(name for name in task["required"] if name != "task")]
    flat["title"], schema["title"] = "Pipeline of one task", "Pipeline of several tasks"
    return {"$schema": _DIALECT, "title": "Samewise pipeline", "$defs": definitions, "anyOf": [flat, schema]}
