# The trainer, for machines with NVIDIA GPUs. The host provides the driver, PyTorch's packages provide CUDA.
#
#     docker build -f docker/trainer.Dockerfile -t proctor-trainer .
#     docker run --gpus all --ipc host -v "$PWD:/work" proctor-trainer code_r1_7b reward.url=http://…:8080
#
# The image has a compiler because Triton and DeepSpeed compile at run time.

# Packages of Debian stable are not pinned: Debian keeps one version of each, with security fixes.
ARG BASE=docker.io/library/debian:bookworm-slim

FROM ${BASE}
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ libc6-dev ninja-build python3 python3-dev python3-venv tini \
    && rm -rf /var/lib/apt/lists/* /usr/share/doc /usr/share/man
RUN python3 -m venv /opt/proctor
ENV PATH=/opt/proctor/bin:$PATH PYTHONUNBUFFERED=1
COPY locks/gpu.txt /src/locks/
# --no-deps: the lock is complete, but pip would require the extras, which it does not name
RUN pip install --no-cache-dir --no-deps --require-hashes -r /src/locks/gpu.txt
COPY pyproject.toml README.md LICENSE /src/
COPY sandbox_service /src/sandbox_service
COPY trainer /src/trainer
RUN pip install --no-cache-dir --no-deps --no-build-isolation /src
# set only now: DeepSpeed's setup.py imports modules from its own folder
ENV PYTHONSAFEPATH=1
WORKDIR /work
ENTRYPOINT ["/usr/bin/tini", "--", "proctor", "train"]
