"""The Helm chart: its defaults are the plain manifests, and its values make one machine or several fleets.

Needs `pip install helm-python-sdk kubernetes-validate`, and skips without. No cluster is used.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from tests.deploy.test_files import DEPLOY, NEEDED, YAML, documents, has_schema, without_app_armor

SCHEMAS = pytest.importorskip("jsonschema_rs", reason="it comes with schemathesis")
CHART = DEPLOY / "helm" / "proctor"
PLAIN = {"image": {"repository": "proctor", "tag": ""}}  # as kustomize finds it

SETTINGS = {"max_memory_bytes": 8 << 30, "stdin_isolation": "submission", "recheck_share": 0.05}

Objects = dict[tuple[str, str], dict[str, Any]]


def rendered(*files: str, **values: object) -> Objects:
    """The chart's objects by kind and name, with the values of these files of the chart and further ones."""
    chart = pytest.importorskip("helm_python.chart", reason="pip install helm-python-sdk")
    given: dict[str, Any] = {}
    for name in files:
        given |= yaml.safe_load((CHART / name).read_text())
    texts = chart.Chart.load(str(CHART)).render(given | values, name="proctor", namespace="maths")
    return by_name(each for text in texts.values() for each in yaml.safe_load_all(text) if each)


def by_name(found: Any) -> Objects:
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


def environment(manifest: dict[str, Any]) -> dict[str, str]:
    [container] = manifest["spec"]["template"]["spec"]["containers"]
    return {each["name"]: each["value"] for each in container["env"]}


def test_without_values_it_is_the_plain_manifests() -> None:
    plain = by_name(
        each
        for name in YAML
        if name.startswith("kubernetes/") and not name.endswith("kustomization.yaml")
        for each in documents(name)
    )
    assert rendered(**PLAIN) == plain


def test_one_machine_has_neither_redis_nor_workers() -> None:
    found = rendered("values-single.yaml", settings=SETTINGS)
    assert set(found) == {("Service", "proctor"), ("Deployment", "proctor"), ("NetworkPolicy", "proctor")}
    deployment = found["Deployment", "proctor"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert set(container["securityContext"]["capabilities"]["add"]) == NEEDED
    assert environment(deployment) == {
        "SANDBOX_SLOTS": "8",
        "SANDBOX_API_KEYS_FILE": "/run/secrets/proctor/api_keys",
        "SANDBOX_MAX_MEMORY_BYTES": str(8 << 30),
        "SANDBOX_STDIN_ISOLATION": "submission",
        "SANDBOX_RECHECK_SHARE": "0.05",
    }


def test_fleets_that_share_a_redis_have_keys_of_their_own() -> None:
    found = rendered("values-shared.yaml")
    assert not [name for kind, name in found if name == "redis"]
    for name in ("proctor-api", "proctor-worker"):
        own = environment(found["Deployment", name])
        assert (own["SANDBOX_REDIS_URL"], own["SANDBOX_REDIS_NAME"]) == ("redis://redis.shared:6379/0", "fleet-a")
        assert found["NetworkPolicy", name]["spec"]["egress"][0] == {"ports": [{"port": 6379}]}
    trigger = found["ScaledObject", "proctor-worker"]["spec"]["triggers"][0]["metadata"]
    assert trigger["query"] == 'max(proctor_pending_cpu_seconds{namespace="maths"})'
    assert trigger["threshold"] == "120"


def test_values_for_clients_and_own_profiles() -> None:
    clients = [{"namespaceSelector": {"matchLabels": {"team": "rl"}}}]
    found = rendered(
        api={"clients": clients},
        worker={"seccompProfile": "proctor.json", "appArmorProfile": "proctor", "replicas": 3},
    )
    assert found["NetworkPolicy", "proctor-api"]["spec"]["ingress"] == [{"ports": [{"port": 8080}], "from": clients}]
    worker = found["Deployment", "proctor-worker"]["spec"]
    context = worker["template"]["spec"]["containers"][0]["securityContext"]
    assert context["seccompProfile"] == {"type": "Localhost", "localhostProfile": "proctor.json"}
    assert context["appArmorProfile"] == {"type": "Localhost", "localhostProfile": "proctor"}
    assert "localhost/proctor" in worker["template"]["metadata"]["annotations"].values()
    assert worker["replicas"] == 3
    assert ("ScaledObject", "proctor-worker") not in found


@pytest.mark.parametrize("kubernetes", ["1.28", "1.32", "1.37"])
@pytest.mark.parametrize("file", [None, "values-single.yaml", "values-shared.yaml"])
def test_it_suits_a_version_of_kubernetes(kubernetes: str, file: str | None) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    for each in rendered(*[file] if file else []).values():
        if has_schema(each):
            validate.validate(without_app_armor(each) if kubernetes == "1.28" else each, kubernetes, strict=True)


def test_it_lints() -> None:
    chart = pytest.importorskip("helm_python.chart", reason="pip install helm-python-sdk")
    report = chart.lint(str(CHART), strict=True)
    information = 1
    assert (report["errors"], [each for each in report["messages"] if each["severity"] > information]) == ([], [])


def accepted(*files: str, **values: Any) -> None:
    """Raise the error with which Helm refuses these values."""
    merged: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
    for given in (*(yaml.safe_load((CHART / name).read_text()) for name in files), values):
        for name, value in given.items():
            merged[name] = {**merged.get(name, {}), **value} if isinstance(value, dict) else value
    schema = json.loads((CHART / "values.schema.json").read_text())
    SCHEMAS.validator_for(schema).validate(merged)


def test_helm_takes_the_values_that_there_are() -> None:
    accepted()
    accepted("values-single.yaml", settings=SETTINGS)
    accepted("values-shared.yaml", worker={"replicas": 3, "memory": 17179869184}, image={"tag": ""})


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"mode": "flet"}, "flet"),  # nothing was installed, without a word
        ({"workers": {}}, "workers"),
        ({"worker": {"slot": 4}}, "slot"),
        ({"worker": {"slots": 0}}, "0 is less"),
        ({"worker": {"slots": "8"}}, '"8" is not of type "integer"'),
        ({"worker": {"memory": "16 GB"}}, "16 GB"),
        ({"worker": {"nodeSelector": {"a": True}}}, "true"),
        ({"settings": {"SANDBOX_SLOTS": 4}}, "SANDBOX_SLOTS"),
        ({"settings": {"sandbox_slots": 4}}, "sandbox_slots"),
        ({"settings": {"hosts": ["a"]}}, "is not of type"),
        ({"redis": {"url": "localhost:6379"}}, "localhost:6379"),
        ({"redis": {"password": "x"}}, "password"),
        ({"secret": ""}, "shorter"),
        ({"api": {"clients": "all"}}, "all"),
    ],
)
def test_helm_refuses_wrong_values(values: dict[str, Any], named: str) -> None:
    with pytest.raises(SCHEMAS.ValidationError, match=re.escape(named)):
        accepted(**values)
