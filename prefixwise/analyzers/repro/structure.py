"""Which names in a request body are the API's and which are a tenant's."""

from __future__ import annotations

import re
from typing import Any

# Keys of request bodies, of answers and of JSON Schema. Any other key in a body is a tenant's word.
_KEYS = """
$defs $ref $schema additional_kwargs additionalModelRequestFields additionalProperties allOf allowedFunctionNames
annotations anthropic anthropic_version any anyOf args arguments audio audio_url auto blob budget_tokens bytes
cache_control cache_creation cache_creation_input_tokens cache_read_input_tokens cache_salt cacheControl cached_tokens
cachedContent cacheDetails cachePoint call_id candidates chat_template_kwargs choices citations code
codeExecutionResult const content contents custom data default definitions description detail
disable_parallel_tool_use display document effort encrypted_content end_time enum ephemeral_1h_input_tokens
ephemeral_5m_input_tokens examples executableCode extra_key file file_data file_id file_url fileData filename fileUri
finish_reason format frequency_penalty function function_call functionCall functionCallingConfig functionDeclarations
functionResponse functions generationConfig guardrailConfig id image image_url include index inferenceConfig
inline_data inlineData input input_audio input_messages input_schema input_tokens input_tokens_details inputSchema
inputTokens instructions is_error items json json_schema kwargs labels lc logprobs lora_path max_completion_tokens
max_output_tokens max_tokens maximum maxItems maxLength maxOutputTokens maxProperties maxTokens media_type mediaType
message messages metadata mime_type mimeType minimum minItems minLength mode model modelId name none not nullable
object oneOf options output output_config output_tokens parallel_tool_calls parameters params parts pattern
performanceConfig presence_penalty previous_response_id prompt prompt_cache_breakpoint prompt_cache_isolation_key
prompt_cache_key prompt_cache_retention prompt_token_ids prompt_tokens prompt_tokens_details properties
providerOptions reasoning reasoning_content reasoning_effort reasoningContent reasoningText redactedContent refusal
replica request required response response_format result role safety_identifier schema seed service_tier session_id
signature source speed start_time status stop stop_sequences stopSequences store stream stream_options strict summary
system system_instruction system_instructions systemInstruction temperature text thinking thinkingConfig thought
thoughtSignature title token_ids tool tool_call_id tool_calls tool_choice tool_definitions tool_use_id toolCallId
toolChoice toolConfig toolName toolResult tools toolSpec toolUse toolUseId top_k top_p truncation ttl type uri url
usage usageMetadata user value verbosity video video_url
"""


# Keys whose strings APIs name: roles, types, modes.
_NAMED = """
$schema detail display effort end_time finish_reason format lc media_type mediaType mime_type mimeType mode object role
service_tier start_time status type verbosity
"""


# Keys under which nothing is a tenant's.
_WHOLE = """
cache_control cacheControl cachePoint prompt_cache_breakpoint usage usageMetadata
"""


# Keys under which everything is: arguments of calls, results of functions, notes.
_FREE = """
args arguments default examples json labels metadata response result value
"""


# Words that stand for a setting where they are the whole of a value.
_SETTINGS = """
any assistant auto concise default detailed developer disabled enabled ephemeral fast flex high json_object
json_schema low medium minimal none priority required standard system text tool user xhigh
"""


KEYS = frozenset(_KEYS.split())
NAMED = frozenset(_NAMED.split())
WHOLE = frozenset(_WHOLE.split())
FREE = frozenset(_FREE.split())
SETTINGS = frozenset(_SETTINGS.split())
ID_HEADS = re.compile(r"(?:call|chatcmpl|fc|msg|req|resp|rs|srvtoolu|toolu)_")


def is_free(key: str, value: Any) -> bool:
    """Say whether what stands under a key of a body is a tenant's own, keys and all."""
    return key in FREE or (key == "input" and isinstance(value, dict))


def is_properties(key: str, value: Any) -> bool:
    """Say whether the keys under a key are names that a tenant gave to schemas."""
    return key in ("properties", "$defs", "definitions") and isinstance(value, dict)
