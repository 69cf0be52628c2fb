"""Models of prefix caches: rules that are replayed over a corpus, and the caches themselves as objects.

`policy`, `policies/`, `granular` and `sharing` count what a rule serves of a log. `prefix_cache` is the protocol of the
objects that an engine or a simulator drives: `block_chain` (vLLM), `radix_cache` (SGLang), `trt_cache` (TensorRT-LLM),
`slot_cache` (llama.cpp), `null_cache`; `tiers`, `stores` and `file_store` lie below them.
"""
