# The trainer, for machines with NVIDIA GPUs. The driver comes from the host, CUDA with PyTorch's own packages.
#
#     docker build -f docker/trainer.Dockerfile -t proctor-trainer .
#     docker run --gpus all --ipc host -v "$PWD:/work" proctor-trainer trainer/configs/grpo.toml reward.url=http://…:8080
#
# gcc is there because Triton and DeepSpeed compile while they run.

# Packages of Debian stable are not pinned: it keeps one version of each, and mends it.
ARG BASE=docker.io/library/debian:bookworm-slim

FROM ${BASE}
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ libc6-dev ninja-build python3 python3-dev python3-venv tini \
    && rm -rf /var/lib/apt/lists/* /usr/share/doc /usr/share/man
RUN python3 -m venv /opt/proctor
ENV PATH=/opt/proctor/bin:$PATH PYTHONUNBUFFERED=1
COPY locks/gpu.txt /src/locks/
# the lock is complete, and names no extras, which pip would want
RUN pip install --no-cache-dir --no-deps --require-hashes -r /src/locks/gpu.txt
COPY pyproject.toml README.md LICENSE /src/
COPY sandbox_service /src/sandbox_service
COPY trainer /src/trainer
RUN pip install --no-cache-dir --no-deps --no-build-isolation /src
# not before: DeepSpeed's setup.py imports what lies beside it
ENV PYTHONSAFEPATH=1
WORKDIR /work
ENTRYPOINT ["/usr/bin/tini", "--", "proctor", "train"]
