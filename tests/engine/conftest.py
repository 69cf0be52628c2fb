"""One thread: two of them on a busy machine spend their time waiting for each other."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import torch

torch.set_num_threads(1)
