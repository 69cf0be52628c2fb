#!/usr/bin/env bash
# The engine on one GPU, in at most ten minutes, with the torch that is there: equality in single and half precision,
# then cold and warm time to the first token at 8,192 and 32,768 tokens beside the compute floor.
# Nothing is downloaded: weights are random. PYTHON names an interpreter with torch and prefixwise's base packages.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-python3}"
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"
began=$SECONDS
"$python" -c 'import torch; print(torch.__version__, torch.version.cuda, torch.cuda.get_device_name())'
timeout 120 "$python" -m benchmarks.engine_gpu --dtype fp32 --model "" --answers 200
timeout 120 "$python" -m benchmarks.engine_gpu --dtype bf16 --model "" --answers 200
timeout 150 "$python" -m benchmarks.engine_gpu --dtype bf16 --equal random:smollm2-135m --answers 40 --model ""
timeout $((590 - (SECONDS - began))) "$python" -m benchmarks.engine_gpu --answers 1
