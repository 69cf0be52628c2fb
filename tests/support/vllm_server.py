"""vLLM's own OpenAI server on SmolLM2, run by the interpreter that PREFIXWISE_VLLM_PYTHON names."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

PYTHON = os.environ.get("PREFIXWISE_VLLM_PYTHON", "")
BLOCK = 32
_START_S = 300


def model_folder(into: Path) -> Path:
    """Convert the packaged model into what vLLM reads: weights, configuration and tokenizer."""
    import torch
    import transformers

    from prefixwise.engine.loading import load
    from prefixwise.engine.model_sources import find_model, packaged_model

    load(find_model("smollm2"), into, torch.device("cpu"), torch.float32)
    (folder,) = into.iterdir()
    packed = packaged_model()
    assert packed is not None
    transformers.AutoTokenizer.from_pretrained(packed.parent, gguf_file=packed.name).save_pretrained(folder)
    return folder


@contextmanager
def vllm_server(folder: Path, log: Path) -> Iterator[str]:
    """Run the server while the context lasts; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "OMP_NUM_THREADS": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [
        *(PYTHON, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder), "--served-model-name", "smollm2"),
        *("--host", "127.0.0.1", "--port", str(port), "--dtype", "float32", "--enforce-eager"),
        *("--max-model-len", "4096", "--block-size", str(BLOCK)),
        *("--enable-prefix-caching", "--enable-prompt-tokens-details"),
    ]
    with log.open("wb") as out:
        child = subprocess.Popen(command, env=kept | settings, stdout=out, stderr=out, start_new_session=True)
    try:
        _wait(child, f"http://127.0.0.1:{port}", log)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(child.pid, signal.SIGTERM)
        try:
            child.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)


def _wait(child: subprocess.Popen, url: str, log: Path) -> None:
    end = time.monotonic() + _START_S
    with httpx.Client(trust_env=False) as client:
        while time.monotonic() < end:
            assert child.poll() is None, log.read_text(errors="replace")[-2000:]
            try:
                if client.get(f"{url}/health").status_code == 200:
                    return
            except httpx.HTTPError:
                time.sleep(0.5)
    raise AssertionError("vLLM does not start")
