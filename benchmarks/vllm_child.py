"""vLLM's CPU build as a child process of `benchmarks.engine_speed`, run by the Python of an environment that has it.

Reads a line of JSON a prompt (a list of token ids) and answers with wall and CPU seconds until the first token, and the
tokens that came from the cache. Its first argument is the folder of the model.
"""

from __future__ import annotations

import json
import os
import sys
import time

SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "HF_HUB_OFFLINE": "1",
}


def main() -> None:
    os.environ.update(SETTINGS)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever the library prints is no answer
    import torch
    from vllm import LLM, SamplingParams

    torch.set_num_threads(1)
    engine = LLM(
        sys.argv[1],
        skip_tokenizer_init=True,
        dtype="float32",
        enforce_eager=True,
        enable_prefix_caching=True,
        block_size=32,
        max_model_len=4096,
        max_num_batched_tokens=4096,
    )
    sampling = SamplingParams(max_tokens=1, temperature=0, detokenize=False, ignore_eos=True)
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        (answer,) = engine.generate({"prompt_token_ids": json.loads(line)}, sampling, use_tqdm=False)
        spent = time.perf_counter() - wall, time.process_time() - cpu
        print(json.dumps([*spent, answer.num_cached_tokens]), file=out, flush=True)


if __name__ == "__main__":
    main()
