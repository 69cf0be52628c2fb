"""transformers' own classes, with random weights, say what the logits and the greedy answers are."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers
from support.engine_runs import CPU, Alone, engine, jobs, serve, wrong
from support.model_oracles import FAMILIES, SHAPE, oracle

from prefixwise.core.errors import UserError
from prefixwise.engine.attention import SdpaAttention
from prefixwise.engine.batch import make_batch
from prefixwise.engine.byte_tokenizer import ByteTokenizer
from prefixwise.engine.executor import Piece
from prefixwise.engine.kv_pool import KvPool
from prefixwise.engine.loading import LoadedModel
from prefixwise.engine.model_config import parse_config
from prefixwise.engine.transformers_model import TransformersModel
from prefixwise.engine.weights import load_model, read_config


def ids(count: int) -> list[int]:
    """Return token ids without order."""
    return [(37 * index + index * index // 3) % 256 for index in range(count)]


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_logits_are_those_of_transformers(family: str, padded: bool, exact: bool, tmp_path: Path) -> None:
    theirs = oracle(FAMILIES[family](), tmp_path)
    config = read_config(tmp_path)
    model = load_model(tmp_path, config, CPU, torch.float32)
    pool, attention = KvPool(config, 64, 8, torch.float32, CPU), SdpaAttention(padded)
    sequences = [(ids(90), [9, 3, 17, 4, 5, 30, 8, 11, 2, 40, 41, 42]), (ids(70)[::-1], list(range(50, 60)))]
    with torch.inference_mode():
        wanted = [theirs(torch.tensor([tokens])).logits[0] for tokens, _ in sequences]
        # Both in one step: cold, warm, one token at a time, and again many.
        for bounds in ((0, 21), (21, 50), (50, 51), (51, 52), (52, 70)):
            pieces = [Piece(tokens[slice(*bounds)], bounds[0], blocks) for tokens, blocks in sequences]
            found = model.forward(make_batch(pieces, 8, CPU, exact), pool, attention)
            for row, logits in zip(found, wanted, strict=True):
                assert (row - logits[bounds[1] - 1]).abs().max() < 1e-4
    assert max(logits.std() for logits in wanted) > 0.5


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_are_those_of_transformers(family: str, tmp_path: Path) -> None:
    theirs = oracle(FAMILIES[family](), tmp_path)
    model = load_model(tmp_path, read_config(tmp_path), CPU, torch.float32)
    loaded = LoadedModel(family, model, ByteTokenizer(), lambda: family)
    work = jobs(9, 12)
    requests = serve(engine(loaded=loaded, index="chain", block=8, token_budget=48), work)
    for job, request in zip(work, requests, strict=True):
        prompt = torch.tensor([job.prompt])
        answer = theirs.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=job.answer,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=258,
        )
        assert request.output == answer[0, len(job.prompt) :].tolist()


def test_an_answer_ends_with_the_models_end(tmp_path: Path) -> None:
    oracle(FAMILIES["llama"](), tmp_path)
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [257, 12]}')
    assert read_config(tmp_path).ends == (257, 12)


OTHERS = {
    "gpt-neox": lambda: transformers.GPTNeoXConfig(
        **{name: value for name, value in SHAPE.items() if name != "num_key_value_heads"}
    ),
    "olmo": lambda: transformers.OlmoConfig(**SHAPE),
    "granite": lambda: transformers.GraniteConfig(**SHAPE, attention_multiplier=0.2, logits_scaling=3.0),
}


@pytest.mark.parametrize("family", OTHERS)
def test_other_architectures_run_on_transformers_classes(family: str, tmp_path: Path) -> None:
    config = OTHERS[family]()
    theirs = oracle(config, tmp_path)
    with pytest.raises(UserError, match="not run here"):
        read_config(tmp_path)
    adapted = TransformersModel(tmp_path, CPU, torch.float32)
    loaded = LoadedModel(family, adapted, ByteTokenizer(), lambda: family)
    work = jobs(10, 10)
    requests = serve(engine(loaded=loaded, index="radix", token_budget=48, capacity="600tokens"), work)
    assert wrong(work, requests, Alone(loaded)) == []
    tokens = list(work[3].prompt)
    with torch.inference_mode():
        wanted = theirs(torch.tensor([tokens])).logits[0, -1]
        pool = KvPool(adapted.config, 40, 8, torch.float32, CPU)
        piece = Piece(tokens, 0, range(1, 40))
        found = adapted.forward(make_batch([piece], 8, CPU, exact=True), pool, SdpaAttention())
    assert (found[0] - wanted).abs().max() < 1e-4
    assert int(wanted.argmax()) == requests[3].output[0]


def test_the_adapter_refuses_windows(tmp_path: Path) -> None:
    oracle(transformers.MistralConfig(**SHAPE, sliding_window=32), tmp_path)
    with pytest.raises(UserError, match="do not attend to everything"):
        TransformersModel(tmp_path, CPU, torch.float32)


UNFIT = {
    # Biases grow with the distance of tokens, which the attention here knows nothing of.
    "bloom": lambda: transformers.BloomConfig(vocab_size=259, hidden_size=48, n_layer=2, n_head=6),
    # Keys and values are compressed.
    "deepseek-v2": lambda: transformers.DeepseekV2Config(
        **{**SHAPE, "num_key_value_heads": 6}, q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8
    ),
    # What is told apart by softmax is cut off.
    "gemma2": lambda: transformers.Gemma2Config(**SHAPE, head_dim=8, layer_types=["full_attention"] * 3),
}


@pytest.mark.parametrize("family", UNFIT)
def test_the_adapter_refuses_what_it_would_compute_otherwise(family: str, tmp_path: Path) -> None:
    oracle(UNFIT[family](), tmp_path)
    with pytest.raises(UserError):
        TransformersModel(tmp_path, CPU, torch.float32)


BASE = {"model_type": "llama", **SHAPE}
REFUSED = {
    "gemma3": {"model_type": "gemma3"},
    "hidden_act=gelu": {"hidden_act": "gelu"},
    "mlp_bias=True": {"mlp_bias": True},
    "quantization_config=": {"quantization_config": {"quant_method": "awq"}},
    "sliding_window=4096": {"model_type": "mistral", "sliding_window": 4096},
    "sliding_attention": {"model_type": "qwen3", "layer_types": ["full_attention", "sliding_attention"]},
    "rope scaling 'yarn'": {"rope_scaling": {"rope_type": "yarn", "factor": 4.0}},
    "rope scaling 'linear'": {"rope_scaling": {"type": "linear", "factor": 2.0}},
    "the rope scaling is not whole": {"rope_scaling": {"rope_type": "llama3", "factor": 4.0}},
    "a part of a head": {"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}},
    "partial_rotary_factor=0.5": {"partial_rotary_factor": 0.5},
    "cannot share 4": {"num_key_value_heads": 4},
    "rotated in pairs": {"head_dim": 15},
    "does not describe a model": {"hidden_size": "many"},
    "a size is below one": {"num_hidden_layers": 0},
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_not_known_is_refused_by_name(said: str) -> None:
    parse_config(BASE, "config.json")
    with pytest.raises(UserError) as refusal:
        parse_config({**BASE, **REFUSED[said]}, "config.json")
    assert said in refusal.value.what


def test_tensors_that_have_no_place_are_refused_by_name(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    oracle(FAMILIES["llama"](), tmp_path)
    config, path = read_config(tmp_path), tmp_path / "model.safetensors"
    tensors = load_file(path)
    changed = {**tensors, "model.layers.0.self_attn.sinks": torch.zeros(6)}
    save_file(changed, path)
    with pytest.raises(UserError, match=r"model\.layers\.0\.self_attn\.sinks has no place"):
        load_model(tmp_path, config, CPU, torch.float32)
    missing = {name: tensor for name, tensor in tensors.items() if name != "model.norm.weight"}
    save_file(missing, path)
    with pytest.raises(UserError, match=r"model\.norm\.weight is missing"):
        load_model(tmp_path, config, CPU, torch.float32)
    save_file({**tensors, "model.norm.weight": torch.zeros(7)}, path)
    with pytest.raises(UserError, match=r"model\.norm\.weight is \(7,\), not \(48,\)"):
        load_model(tmp_path, config, CPU, torch.float32)
    path.write_bytes(b"no safetensors")
    with pytest.raises(UserError, match="cannot be read as safetensors"):
        load_model(tmp_path, config, CPU, torch.float32)
    path.unlink()
    with pytest.raises(UserError, match="no safetensors files"):
        load_model(tmp_path, config, CPU, torch.float32)


def test_a_tied_head_may_be_in_the_file(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    oracle(FAMILIES["llama-tied"](), tmp_path)
    config, path = read_config(tmp_path), tmp_path / "model.safetensors"
    without = load_model(tmp_path, config, CPU, torch.float32)
    tensors = load_file(path)
    save_file({**tensors, "lm_head.weight": tensors["model.embed_tokens.weight"].clone()}, path)
    within = load_model(tmp_path, config, CPU, torch.float32)
    pool, piece = KvPool(config, 8, 8, torch.float32, CPU), Piece(ids(20), 0, range(1, 5))
    found = [m.forward(make_batch([piece], 8, CPU, exact=True), pool, SdpaAttention()) for m in (without, within)]
    assert torch.equal(*found)


def test_names_without_model_and_several_files_are_read(tmp_path: Path) -> None:
    import json

    from safetensors.torch import load_file, save_file

    oracle(FAMILIES["qwen3"](), tmp_path)
    config, path = read_config(tmp_path), tmp_path / "model.safetensors"
    whole = load_model(tmp_path, config, CPU, torch.float32)
    tensors = {name.removeprefix("model."): tensor for name, tensor in load_file(path).items()}
    path.unlink()
    names = sorted(tensors)
    where = {name: f"part-{number % 2}.safetensors" for number, name in enumerate(names)}
    for part in set(where.values()):
        save_file({name: tensors[name] for name in names if where[name] == part}, tmp_path / part)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    parts = load_model(tmp_path, config, CPU, torch.float32)
    pool, piece = KvPool(config, 8, 8, torch.float32, CPU), Piece(ids(20), 0, range(1, 5))
    found = [m.forward(make_batch([piece], 8, CPU, exact=True), pool, SdpaAttention()) for m in (whole, parts)]
    assert torch.equal(*found)
    (tmp_path / "part-1.safetensors").unlink()
    with pytest.raises(UserError, match=r"part-1\.safetensors is missing"):
        load_model(tmp_path, config, CPU, torch.float32)
