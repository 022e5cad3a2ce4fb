"""What is started from files: they name the settings there are, and fit together."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from sandbox_service.fleet.worker import HOPELESS_SECONDS
from sandbox_service.languages import LANGUAGES
from sandbox_service.settings import PREFIX, Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE = ("compose.yaml", "compose.embedded.yaml")
YAML = sorted(path.relative_to(DEPLOY).as_posix() for path in DEPLOY.rglob("*.y*ml") if "helm" not in path.parts)
NEW_USER_SPACE = 0x10000000  # CLONE_NEWUSER
APP_ARMOR = "/etc/apparmor.d/abi/3.0"
NEEDED = {"SYS_ADMIN", "NET_ADMIN", "MKNOD", "CHOWN", "SETGID", "SETUID", "SETPCAP", "KILL", "SYS_CHROOT"}


def documents(name: str) -> list[dict[str, Any]]:
    """Of a file; what KEDA and Kubernetes call an object each."""
    return [each for each in yaml.safe_load_all((DEPLOY / name).read_text()) if each]


def objects(kind: str) -> dict[str, dict[str, Any]]:
    """Kubernetes' objects of a kind, by name."""
    files = [name for name in YAML if name.startswith("kubernetes/")]
    found = [each for name in files for each in documents(name) if each.get("kind") == kind]
    return {each["metadata"]["name"]: each for each in found}


def container(kind: str, name: str) -> dict[str, Any]:
    [only] = objects(kind)[name]["spec"]["template"]["spec"]["containers"]
    return dict(only)


def test_the_example_of_an_environment_has_every_setting_with_its_default() -> None:
    lines = (DEPLOY / ".env.example").read_text().split("\n\n", 1)[1].splitlines()
    expected = [
        line
        for name, field in Settings.model_fields.items()
        for line in (f"# {field.description}", f"#{PREFIX}{name.upper()}={field.default}")
    ]
    assert lines == expected


@pytest.mark.parametrize("name", YAML)
def test_only_settings_that_there_are_are_named(name: str) -> None:
    named = set(re.findall(rf"\b{PREFIX}([A-Z]\w*)", (DEPLOY / name).read_text()))
    assert named <= {field.upper() for field in Settings.model_fields}


@pytest.mark.parametrize("name", COMPOSE)
def test_what_a_compose_file_mounts_is_there(name: str) -> None:
    for service in documents(name)[0]["services"].values():
        for volume in service.get("volumes", []):
            source = str(volume).split(":")[0]
            assert not source.startswith("./") or (DEPLOY / source).exists(), source


def test_every_image_can_be_pinned_by_a_setting() -> None:
    for name, service in documents("compose.yaml")[0]["services"].items():
        assert re.fullmatch(r"\$\{PROCTOR_\w*IMAGE:-[\w./-]+:[\w.-]+\}", service["image"]), name


def test_only_what_grades_has_rights() -> None:
    services = documents("compose.yaml")[0]["services"]
    assert {name for name, service in services.items() if service.get("cap_add")} == {"worker"}
    assert set(services["worker"]["cap_add"]) == NEEDED
    assert services["api"]["cap_drop"] == services["worker"]["cap_drop"] == ["ALL"]
    assert services["api"]["user"] == "proctor"
    [embedded] = documents("compose.embedded.yaml")[0]["services"].values()
    assert set(embedded["cap_add"]) == NEEDED


def test_so_it_is_in_kubernetes() -> None:
    worker = container("Deployment", "proctor-worker")["securityContext"]["capabilities"]
    assert (worker["drop"], set(worker["add"])) == (["ALL"], NEEDED)
    for kind, name in (("Deployment", "proctor-api"), ("StatefulSet", "redis")):
        context = container(kind, name)["securityContext"]
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert context["allowPrivilegeEscalation"] is False


def test_no_password_is_in_the_arguments_of_a_process() -> None:
    redis = documents("compose.yaml")[0]["services"]["redis"]
    assert (redis["user"], redis["read_only"], redis["cap_drop"]) == ("redis", True, ["ALL"])
    for script in (redis["command"][-1].replace("$$", "$"), *container("StatefulSet", "redis")["args"]):
        command, found, text = script.partition("<<END\n")
        assert found
        assert "password" not in command.replace("redis_password", "")
        assert "/secrets/" not in command
        assert text.startswith("requirepass $(cat /run/secrets/")
        assert text.endswith("redis_password)\nEND\n")


def test_what_listens_on_this_machine_listens_there_only() -> None:
    for name in COMPOSE:
        for service in documents(name)[0]["services"].values():
            for port in service.get("ports", []):
                assert port.startswith(("127.0.0.1:", "${PROCTOR_BIND:-127.0.0.1}:"))


def test_every_container_has_probes_of_its_ports() -> None:
    for kind, name in (("Deployment", "proctor-api"), ("Deployment", "proctor-worker"), ("StatefulSet", "redis")):
        found = container(kind, name)
        ports = {port["name"] for port in found["ports"]}
        for probe in ("readinessProbe", "livenessProbe"):
            assert {found[probe].get("httpGet", found[probe].get("tcpSocket"))["port"]} <= ports
    for service in ("proxy", "api", "worker", "redis"):
        assert documents("compose.yaml")[0]["services"][service]["healthcheck"]


def test_a_rollout_of_workers_that_cannot_grade_stops() -> None:
    spec = objects("Deployment")["proctor-worker"]["spec"]
    found = container("Deployment", "proctor-worker")
    assert found["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": "25%", "maxSurge": 0}
    assert 0 < spec["minReadySeconds"] < HOPELESS_SECONDS < spec["progressDeadlineSeconds"]
    port = next(each["value"] for each in found["env"] if each["name"] == "SANDBOX_HEALTH_PORT")
    assert int(port) == found["ports"][0]["containerPort"]


def test_memory_volumes_have_a_size() -> None:
    for deployment in objects("Deployment").values():
        for volume in deployment["spec"]["template"]["spec"]["volumes"]:
            assert "emptyDir" not in volume or "sizeLimit" in volume["emptyDir"]


@pytest.mark.parametrize("kubernetes", ["1.28", "1.32", "1.37"])
def test_the_manifests_suit_a_version_of_kubernetes(kubernetes: str) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    for name in YAML:
        for each in documents(name) if name.startswith("kubernetes/") else []:
            if has_schema(each):
                validate.validate(without_app_armor(each) if kubernetes == "1.28" else each, kubernetes, strict=True)


def has_schema(manifest: dict[str, Any]) -> bool:
    """Whether Kubernetes itself defines the object."""
    return not manifest["apiVersion"].startswith(("keda.sh/", "kustomize."))


def without_app_armor(manifest: dict[str, Any]) -> dict[str, Any]:
    """What the patch for 1.28, and the chart there, make of a manifest."""
    if manifest["kind"] == "Deployment":
        for each in manifest["spec"]["template"]["spec"]["containers"]:
            each["securityContext"].pop("appArmorProfile", None)
    return manifest


def test_the_own_seccomp_profile_refuses_what_jails_do_not_need() -> None:
    profile = json.loads((DEPLOY / "seccomp" / "proctor.json").read_text())
    allowed = {name for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]}
    refused = "bpf fsopen init_module io_uring_setup kexec_load keyctl open_by_handle_at perf_event_open ptrace setns"
    assert allowed.isdisjoint(refused.split())
    assert {"mount", "umount2", "pivot_root", "chroot", "seccomp"} <= allowed
    [spaces] = [rule["args"] for rule in profile["syscalls"] if "unshare" in rule["names"]]
    assert spaces == [{"index": 0, "value": NEW_USER_SPACE, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]
    for name, service in (("compose.yaml", "worker"), ("compose.embedded.yaml", "proctor")):
        assert "seccomp=seccomp/proctor.json" in documents(name)[0]["services"][service]["security_opt"]


def test_the_own_app_armor_profile_allows_the_needed_rights_and_no_disks() -> None:
    text = (DEPLOY / "apparmor" / "proctor").read_text()
    assert {name.upper() for name in re.findall(r"^  capability (\w+),", text, re.MULTILINE)} == NEEDED
    kinds = re.findall(r"^  mount fstype=\((.+)\)", text, re.MULTILINE)
    assert kinds == ["tmpfs, proc, sysfs, devpts"]
    assert not re.search(r"^  mount (->|,)", text, re.MULTILINE)


def test_the_own_app_armor_profile_compiles() -> None:
    if not (parser := shutil.which("apparmor_parser", path="/usr/sbin:/sbin")):
        pytest.skip("apt-get install apparmor")
    features = f"--policy-features={APP_ARMOR}", f"--kernel-features={APP_ARMOR}"
    command = [parser, "--skip-kernel-load", "--skip-cache", "--warn=all", "--Werror", *features]
    ended = subprocess.run([*command, DEPLOY / "apparmor" / "proctor"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_full_image_has_every_language() -> None:
    bake = (DEPLOY.parent / "docker" / "bake.hcl").read_text()
    [packages] = re.findall(r'LANGUAGE_PACKAGES = "(.+)"', bake)
    wanted = {name for each in LANGUAGES if each.toolchain for name in each.toolchain.package.split()}
    assert set(packages.split()) == wanted - {"bash"}  # which every image has
    for dockerfile in re.findall(r'dockerfile = "(.+)"', bake):
        assert (DEPLOY.parent / dockerfile).exists()


def test_an_image_is_made_of_files_that_the_build_may_see() -> None:
    root = DEPLOY.parent
    seen = {line[1:] for line in (root / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", (root / "docker" / "Dockerfile").read_text(), re.MULTILINE)
    assert copies
    assert {source.split("/")[0] for copy in copies for source in copy.split()} <= seen


def test_the_patch_for_older_versions_removes_what_is_there() -> None:
    [made] = documents("kubernetes-1.28/kustomization.yaml")
    [patch] = made["patches"]
    [change] = yaml.safe_load(patch["patch"])
    found: Any = objects(patch["target"]["kind"])[patch["target"]["name"]]
    for part in change["path"].split("/")[1:]:
        found = found[int(part)] if part.isdigit() else found[part]
    assert (change["op"], found) == ("remove", {"type": "Unconfined"})
    annotations = objects("Deployment")["proctor-worker"]["spec"]["template"]["metadata"]["annotations"]
    assert "unconfined" in annotations.values()


def test_a_worker_has_as_many_slots_as_processors() -> None:
    worker = container("Deployment", "proctor-worker")
    slots = next(each["value"] for each in worker["env"] if each["name"] == "SANDBOX_SLOTS")
    assert slots == worker["resources"]["requests"]["cpu"] == worker["resources"]["limits"]["cpu"]


def test_what_is_scaled_is_there_and_its_metric_too() -> None:
    [scaled] = objects("ScaledObject").values()
    assert scaled["spec"]["scaleTargetRef"]["name"] in objects("Deployment")
    metrics = (DEPLOY.parent / "sandbox_service" / "observe" / "metrics.py").read_text()
    for name in re.findall(r"proctor_(\w+)", scaled["spec"]["triggers"][0]["metadata"]["query"]):
        assert f'"{name}"' in metrics


def test_whoever_drains_is_given_the_time() -> None:
    seconds = Settings().shutdown_seconds + 20
    for name in ("proctor-api", "proctor-worker"):
        assert objects("Deployment")[name]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] >= seconds
    for unit in (DEPLOY / "systemd").glob("*.service"):
        assert int(re.findall(r"TimeoutStopSec=(\d+)", unit.read_text())[0]) >= seconds
