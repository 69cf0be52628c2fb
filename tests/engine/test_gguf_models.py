"""GGUF files: written as llama.cpp's converter writes them, they give the model that they were made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy
import pytest
import torch
from support.engine_runs import CPU
from support.model_oracles import FAMILIES, oracle

from prefixwise.core.errors import UserError
from prefixwise.engine.attention import SdpaAttention
from prefixwise.engine.batch import make_batch
from prefixwise.engine.executor import Piece
from prefixwise.engine.gguf_weights import converted
from prefixwise.engine.kv_pool import KvPool
from prefixwise.engine.loading import load
from prefixwise.engine.model_sources import find_model
from prefixwise.engine.weights import load_model, read_config

IDS = [(31 * index) % 250 for index in range(60)]


def interleaved(weight: numpy.ndarray, heads: int) -> numpy.ndarray:
    """Return queries or keys as the converter stores those of Llama (convert_hf_to_gguf.py, `permute`)."""
    return (
        weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)
    )


def write(path: Path, model: Any, **more: Any) -> None:
    """Write a model of transformers as a GGUF file; `more` replaces or adds what the file says."""
    config = model.config
    architecture = "llama" if config.model_type == "mistral" else config.model_type
    heads, kv_heads = config.num_attention_heads, config.num_key_value_heads
    size = getattr(config, "head_dim", None) or config.hidden_size // heads
    writer = gguf.GGUFWriter(path, more.pop("architecture", architecture))
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(size)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    writer.add_eos_token_id(257)
    if "factors" in more:
        writer.add_tensor("rope_freqs.weight", more.pop("factors"))
    for key, value in more.pop("pairs", {}).items():
        writer.add_uint32(key, value) if isinstance(value, int) else writer.add_string(key, value)
    tied = config.tie_word_embeddings
    names = gguf.get_tensor_name_map(getattr(gguf.MODEL_ARCH, architecture.upper()), config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        data = tensor.numpy()
        if architecture == "llama" and name.endswith(("q_proj.weight", "k_proj.weight")):
            data = interleaved(data, heads if "q_proj" in name else kv_heads)
        if not (tied and name == "lm_head.weight"):
            writer.add_tensor(names.get_name(name, try_suffixes=(".weight", ".bias")), numpy.ascontiguousarray(data))
    for name, data in more.items():
        writer.add_tensor(name, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def logits(folder: Path) -> torch.Tensor:
    """Return the logits behind the last token of a prompt."""
    config = read_config(folder)
    model = load_model(folder, config, CPU, torch.float32)
    batch = make_batch([Piece(IDS, 0, range(1, 9))], 8, CPU, exact=True)
    return model.forward(batch, KvPool(config, 9, 8, torch.float32, CPU), SdpaAttention())[0]


@pytest.mark.parametrize("family", ["llama", "llama-tied", "mistral", "qwen2", "qwen3"])
def test_a_gguf_file_is_the_model_that_it_was_made_of(family: str, tmp_path: Path) -> None:
    theirs = oracle(FAMILIES[family](), tmp_path)
    path = tmp_path / "model.gguf"
    write(path, theirs)
    folder = converted(path, tmp_path / "cache", torch.float32)
    assert torch.equal(logits(folder), logits(tmp_path))
    with torch.inference_mode():
        assert (logits(folder) - theirs(torch.tensor([IDS])).logits[0, -1]).abs().max() < 1e-4


def test_scaled_rotations_come_as_factors(tmp_path: Path) -> None:
    theirs = oracle(FAMILIES["llama-3.1"](), tmp_path)
    plain = 1 / 50000.0 ** (torch.arange(0, 8, 2) / 8)
    factors = (plain / theirs.model.rotary_emb.inv_freq).numpy().astype(numpy.float32)
    assert factors.max() == pytest.approx(8.0)
    write(tmp_path / "model.gguf", theirs, factors=factors)
    folder = converted(tmp_path / "model.gguf", tmp_path / "cache", torch.float32)
    assert (logits(folder) - logits(tmp_path)).abs().max() < 1e-4


def test_a_file_is_converted_once_and_anew_when_it_changes(tmp_path: Path) -> None:
    theirs = oracle(FAMILIES["llama"](), tmp_path)
    path, cache = tmp_path / "model.gguf", tmp_path / "cache"
    write(path, theirs)
    first = converted(path, cache, torch.float32)
    made = (first / "config.json").stat().st_mtime_ns
    assert converted(path, cache, torch.float32) == first
    assert (first / "config.json").stat().st_mtime_ns == made
    half = converted(path, cache, torch.bfloat16)
    assert half != first
    with torch.no_grad():
        theirs.model.norm.weight.mul_(2)
    path.unlink()
    write(path, theirs)
    assert converted(path, cache, torch.float32) not in (first, half)
    assert len(list(cache.iterdir())) == 3


def test_a_conversion_that_fails_leaves_nothing(tmp_path: Path) -> None:
    theirs = oracle(FAMILIES["llama"](), tmp_path)
    path, cache = tmp_path / "model.gguf", tmp_path / "cache"
    write(path, theirs, **{"blk.0.attn_sinks.weight": numpy.zeros(6, dtype=numpy.float32)})
    with pytest.raises(UserError, match=r"blk\.0\.attn_sinks\.weight has no place"):
        converted(path, cache, torch.float32)
    assert list(cache.iterdir()) == []


REFUSED = {
    "mixtures of experts": {"pairs": {"llama.expert_count": 8}},
    "sliding windows": {"pairs": {"llama.attention.sliding_window": 128}},
    "rope scaling 'yarn'": {"pairs": {"llama.rope.scaling.type": "yarn"}},
    "a part of a head": {"pairs": {"llama.rope.dimension_count": 4}},
    "architecture 'gemma3'": {"architecture": "gemma3"},
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_a_file_asks_for_beyond_is_refused(said: str, tmp_path: Path) -> None:
    theirs = oracle(FAMILIES["llama"](), tmp_path)
    write(tmp_path / "model.gguf", theirs, **REFUSED[said])
    with pytest.raises(UserError) as refusal:
        converted(tmp_path / "model.gguf", tmp_path / "cache", torch.float32)
    assert said in refusal.value.what


def test_weights_have_a_hash_that_tells_them_apart(tmp_path: Path) -> None:
    theirs = oracle(FAMILIES["llama"](), tmp_path / "a")
    with torch.no_grad():
        theirs.model.norm.weight[0] += 1
    theirs.save_pretrained(tmp_path / "b")
    from prefixwise.engine.weights import digest_of, weight_files

    one, other = (digest_of(weight_files(tmp_path / name)) for name in "ab")
    assert one != other
    assert one == digest_of(weight_files(tmp_path / "a"))


NAMES = {
    "random:huge": "there is no shape called 'huge'",
    "random:tiny,seed=x": "names no random weights",
    "nothing-here": "there is no such model, file or folder",
    "nobody/nothing": "not in the hub's local cache",
    "text.txt": "is no GGUF file",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_that_lead_nowhere_say_what_to_do(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    (tmp_path / "text.txt").write_text("hello")
    with pytest.raises(UserError) as refusal:
        find_model(name)
    assert NAMES[name] in refusal.value.what
    assert refusal.value.help


def test_random_weights_depend_on_their_seed(tmp_path: Path) -> None:
    def first(name: str) -> Any:
        loaded = load(find_model(name), tmp_path, CPU, torch.float32)
        model: Any = loaded.model
        return loaded.weights(), model._embedding[0].tolist()

    assert first("random:tiny") == first("random:tiny,seed=0") != first("random:tiny,seed=1")
    assert first("random:tiny")[0] != first("random:tiny,seed=1")[0]
