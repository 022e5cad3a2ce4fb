# All images, for amd64 and arm64, with an SBOM and provenance: docker buildx bake -f docker/bake.hcl
#
#     docker buildx bake -f docker/bake.hcl --push                          needs a builder of the driver docker-container
#     docker buildx bake -f docker/bake.hcl service --set '*.platform=linux/amd64' --load        this machine only
#     BASE=debian@sha256:… REGISTRY=registry.example TAG=0.1.0 docker buildx bake -f docker/bake.hcl --push

variable "REGISTRY" { default = "registry.example" }
variable "TAG" { default = "0.1.0" }
# the base image; name its digest to build the same again
variable "BASE" { default = "docker.io/library/debian:bookworm-slim" }

group "default" { targets = ["service", "full"] }

target "service" {
  context = "."
  dockerfile = "docker/Dockerfile"
  args = { BASE = BASE }
  tags = ["${REGISTRY}/proctor:${TAG}"]
  platforms = ["linux/amd64", "linux/arm64"]
  attest = ["type=sbom", "type=provenance,mode=max"]
}

# with the compilers of all languages that Debian has
target "full" {
  inherits = ["service"]
  args = {
    LANGUAGE_PACKAGES = "gcc libc6-dev g++ default-jdk-headless nodejs node-typescript golang-go rustc-web mono-mcs libmono-system-numerics4.0-cil libmono-system-core4.0-cil pypy3 ruby lua5.4 sqlite3"
    PYTHON_PACKAGES = "python3-numpy python3-sortedcontainers python3-pytest python3-scipy"
  }
  tags = ["${REGISTRY}/proctor:${TAG}-full"]
}

# for GPUs, amd64 only: 9.6 GB
target "trainer" {
  context = "."
  dockerfile = "docker/trainer.Dockerfile"
  tags = ["${REGISTRY}/proctor-trainer:${TAG}"]
  platforms = ["linux/amd64"]
  attest = ["type=sbom", "type=provenance,mode=max"]
}
