#!/bin/bash
# Does the jail hold in a real container, and does the service refuse to grade where it does not?
#
#     sudo tests/container/check.sh [CASE…]        about three minutes; the first time two more, for the image
#
# It makes an image of Debian 12 with firejail (kept between runs), starts `proctor serve` in containers that lack now
# this and now that, and prints one line for each case: whether /readyz was 200 or 503, the reason it gave, and what
# became of a right program. Where the service is ready, some of the attacks of tests/attacks are tried as well. The
# exit status is 0 if every case came out as expected. The cases themselves are in cases.py.
#
# Needs: root, podman with runc, debootstrap, the checkout's .venv (CPython 3.11, as in the image), and network for
# the first run: apt's own mirror and pip's own index, as they are configured on this machine.
# Ports 8300 to 8399 of the machine are used, one at a time.
#
# Not shown: AppArmor and SELinux, unless the machine's kernel has them and podman uses them; Docker itself (its filter's
# one difference that matters, no pivot_root, is imitated); rootless podman; cgroup limits; other architectures.
set -euo pipefail

repository=$(cd "$(dirname "$0")/../.." && pwd)
cache=${PROCTOR_CHECK_CACHE:-/var/tmp/proctor-check}
python=${PYTHON:-$repository/.venv/bin/python}
packages=firejail,python3,python3-numpy,libseccomp2
suite=bookworm

fail() { echo "check.sh: $*" >&2; exit 2; }

check_tools() {
    [ "$(id -u)" = 0 ] || fail "run it as root"
    for tool in podman runc debootstrap; do
        command -v "$tool" >/dev/null || fail "$tool is missing: apt-get install podman runc debootstrap"
    done
    [ "$("$python" -c 'import sys; print(*sys.version_info[:2])')" = "3 11" ] || fail "$python is not CPython 3.11"
}

mirror() { apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" 'Created-By: Packages' | head -n 1; }

dependencies() {
    "$python" -c 'import sys, tomllib; it = tomllib.load(open(sys.argv[1], "rb"))["project"];
print(it["dependencies"] + it["optional-dependencies"]["service"])' \
        "$repository/pyproject.toml"
}

install_into() { "$python" -m pip install -qq --disable-pip-version-check --root-user-action ignore --target "$@"; }

# Debian, firejail and the service's dependencies, but not the service: the name says what is in it
build_image() {
    local root=$cache/root
    rm -rf "$root" && mkdir -p "$cache"
    debootstrap --variant=minbase --include="$packages" "$suite" "$root" "$(mirror)" >"$cache/debootstrap.log" 2>&1 ||
        fail "debootstrap failed, see $cache/debootstrap.log"
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
    install_into "$root/opt/dependencies" --no-build-isolation "$repository[service]"
    rm -rf "$root"/opt/dependencies/sandbox_service
    tar -C "$root" -c . | podman --cgroup-manager cgroupfs import - "$image" >/dev/null 2>&1
    rm -rf "$root"
}

# the service as it is now, to be mounted into each container
install_service() {
    rm -rf "$cache/service"
    install_into "$cache/service" --no-deps --no-build-isolation "$repository"
}

check_tools
image=localhost/proctor-check:$({ echo "$packages $suite"; dependencies; } | sha256sum | head -c 12)
podman --cgroup-manager cgroupfs image exists "$image" || { echo "building $image …"; build_image; }
install_service
exec "$python" "$repository/tests/container/cases.py" "$image" "$cache/service" "$@"
