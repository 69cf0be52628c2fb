"""Threats in whole logs: what makes them graver, what they must not be taken for, and what they carry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.auditing import SALTS, SYSTEM, audit_records, call, finding, found

from prefixwise.core.errors import UserError
from prefixwise.core.finding import Level, Severity
from prefixwise.core.report import Report

LONG = SYSTEM * 3
CASE = "Case 4471 of the Halvorsen family: the cabin was double booked, and the lawyer has written twice this month. "


def figures(report: Report, rule: str) -> Any:
    return next(one for one in report.values.threats if one.rule == rule)


def test_private_text_that_two_unsalted_tenants_share_makes_it_critical(tmp_path: Path) -> None:
    many = [call(tenant, None, at, f"Question {at}?", LONG) for at, tenant in enumerate("abcdefg")]
    report = audit_records(tmp_path, many)
    assert finding(report, "salt-absent").severity is Severity.HIGH
    private = [call(tenant, None, 60 + at, CASE * 3, LONG) for at, tenant in enumerate("ab")]
    report = audit_records(tmp_path, many + private)
    assert finding(report, "salt-absent").severity is Severity.CRITICAL
    assert report.values.exposed_private > 0


def test_a_finding_carries_requests_tenants_tokens_times_examples_change_and_cost(tmp_path: Path) -> None:
    records = [call("ash", None, 0, system=LONG), call("birch", None, 90, "Do dogs pay?", LONG)]
    report = audit_records(tmp_path, records)
    one = figures(report, "salt-absent")
    assert (one.threat, one.requests, one.tenants) == ("T1", 2, 2)
    assert (one.first, one.last) == (1_770_000_000, 1_770_000_090)
    assert one.tokens_exposed == report.values.exposed_tokens > 64
    assert len(set(one.examples)) == 2
    assert all(len(example) == 16 for example in one.examples)
    assert "HMAC-SHA256" in one.change
    prompts = [price for price in report.values.isolation if price.isolation == "per tenant"]
    assert one.hit_rate_cost == pytest.approx(one.tokens_exposed / prompts[0].prompt_tokens)
    assert one.fingerprint == finding(report, "salt-absent").fingerprint


def test_one_trust_domain_makes_everything_one_step_less_grave(tmp_path: Path) -> None:
    records = [call("ash", SALTS[0], 0), call("birch", SALTS[0], 60), call("cedar", SALTS[1], 90)]
    apart = finding(audit_records(tmp_path, records), "salt-reused-between-tenants")
    trusting = finding(audit_records(tmp_path, records, one_trust_domain=True), "salt-reused-between-tenants")
    assert (apart.severity, trusting.severity) == (Severity.CRITICAL, Severity.HIGH)


def test_a_rotation_on_schedule_is_no_instability(tmp_path: Path) -> None:
    turns = [("ash", SALTS[0], 0), ("ash", SALTS[0], 600), ("ash", SALTS[1], 86_400), ("ash", SALTS[1], 87_000)]
    records = [call(*turn, system=LONG) for turn in turns]
    assert found(audit_records(tmp_path, records)) == []
    back = [*records, call("ash", SALTS[0], 87_060, system=LONG)]
    assert found(audit_records(tmp_path, back, ttl=172_800)) == ["salt-changes-within-tenant"]


def test_absent_empty_and_none_are_three_namespaces_and_parts_do_not_run_into_each_other(tmp_path: Path) -> None:
    salts = [None, "", "none"]
    records = [call("ash", salt, at, system=LONG) for at, salt in enumerate(salts)]
    assert audit_records(tmp_path, records).values.namespaces == 3
    framed = [call("ash", "a", 0, extra_key="bc"), call("ash", "ab", 1, extra_key="c"), call("ash", "abc", 2)]
    report = audit_records(tmp_path, framed)
    assert report.values.namespaces == 3
    assert "namespace-collision" in found(report)


def test_cached_tokens_that_nobody_had_are_information_only(tmp_path: Path) -> None:
    records = [call("ash", SALTS[0], 0, system=LONG, cached=(140, 80)), call("birch", SALTS[1], 60)]
    report = audit_records(tmp_path, records)
    assert finding(report, "tier-ignores-salt").level is Level.INFO
    assert report.exit_code == 0


def test_a_log_that_begins_with_a_warm_cache_makes_a_warning_of_what_would_be_proof(tmp_path: Path) -> None:
    for first, severity in ((0, Severity.CRITICAL), (112, Severity.MEDIUM)):
        cached = ((140, first), (140, 112), (140, 112))
        records = [call(f"tenant {at}", SALTS[at], at, f"Q {at}?", LONG, one) for at, one in enumerate(cached)]
        found_ = [one for one in audit_records(tmp_path, records).findings if one.rule == "tier-ignores-salt"]
        assert found_[0].severity is severity
        assert len(found_[0].occurrences) == 2


def test_hosted_tenants_without_an_account_of_their_own_are_told_of_with_doubt(tmp_path: Path) -> None:
    records = [call(tenant, None, at, f"Question {at}?", LONG) for at, tenant in enumerate("abcdefg")]
    for record in records:
        record["request"]["model"] = "gpt-4o"
    report = audit_records(tmp_path, records)
    assert found(report) == ["cache-key-as-isolation"]
    assert finding(report, "cache-key-as-isolation").severity is Severity.MEDIUM
    for record in records:
        record["credential"] = "one key"
    assert finding(audit_records(tmp_path, records), "cache-key-as-isolation").severity is Severity.HIGH
    for record in records:
        record["credential"] = f"key of {record['tenant']}"
    assert found(audit_records(tmp_path, records)) == []


def test_a_gateway_that_passes_on_the_clients_salt_is_told_of(tmp_path: Path) -> None:
    records = [call("ash", SALTS[0], 0), call("birch", SALTS[1], 60)]
    records[1]["client_salt"] = SALTS[0]
    report = audit_records(tmp_path, records)
    assert found(report) == ["salt-set-by-client"]
    assert any("salt of another tenant" in clause for clause in finding(report, "salt-set-by-client").evidence)


def test_a_neighbour_who_fills_the_cache_is_seen_in_the_usage(tmp_path: Path) -> None:
    records = []
    for round_, flood in enumerate([0, 1, 0, 1, 1, 0, 1, 1, 0, 1]):
        at = 100 * round_
        if flood:
            text = " ".join(f"w{round_}x{n}" for n in range(900))
            records.append(call("flood", SALTS[1], at - 50, text, cached=(2_800, 0)))
        records.append(call("victim", SALTS[0], at, system=LONG, cached=(140, 0 if flood or not round_ else 120)))
    report = audit_records(tmp_path, records)
    pressed = finding(report, "eviction-pressure")
    assert len(pressed.occurrences) == 6
    quiet = [record for record in records if record["tenant"] == "victim"]
    assert "eviction-pressure" not in found(audit_records(tmp_path, quiet))


def test_one_store_in_two_configurations(tmp_path: Path) -> None:
    records = [call("ash", SALTS[0], 0), call("birch", SALTS[1], 60)]
    store = "chunk_size: 256\nlocal_cpu: true\nremote_url: s3://kv-cache/{}\n"
    same = [("prod.yaml", store.format("main")), ("test.yaml", store.format("main"))]
    report = audit_records(tmp_path, records, configs=same)
    shared = finding(report, "store-shared-by-environments")
    assert (shared.path, shared.span and shared.span.line) == ("test.yaml", 3)
    own = [("prod.yaml", store.format("prod")), ("test.yaml", store.format("test"))]
    assert "store-shared-by-environments" not in found(audit_records(tmp_path, records, configs=own))


def test_nothing_of_a_private_value_leaves_the_audit(tmp_path: Path) -> None:
    secret = " Use postgres://desk:zK4-mQw7vB9xTr2@db.quay.internal:5432/ferries. Liv Halvorsen, born 1974-05-23."
    records = [call(tenant, salt, 0, system=SYSTEM + secret) for tenant, salt in zip("ab", SALTS, strict=False)]
    report = audit_records(tmp_path, records)
    kinds = [one for one in report.findings if one.rule == "private-values-between-tenants"]
    assert {one.message.rpartition(" holds ")[2] for one in kinds} == {"a password in an address.", "a date of birth."}
    said = msgspec.json.encode(report)
    assert b"zK4-mQw7" not in said
    assert b"1974" not in said


def test_examples_that_documentation_shows_stay_information(tmp_path: Path) -> None:
    shown = " Keys: AKIAIOSFODNN7EXAMPLE. Mail: a.person@example.com. Hosts: 192.0.2.10. Card: 4242 4242 4242 4242."
    records = [call(tenant, salt, 0, system=SYSTEM + shown) for tenant, salt in zip("ab", SALTS, strict=False)]
    assert found(audit_records(tmp_path, records)) == []


def test_pseudonyms_hide_every_name(tmp_path: Path) -> None:
    records = [call("Ashworth Travel", None, 0, system=LONG), call("Birchwood Tours", None, 60, system=LONG)]
    said = json.dumps(msgspec.to_builtins(audit_records(tmp_path, records)))
    assert "Ashworth" in said
    hidden = audit_records(tmp_path, records, pseudonyms=True)
    said = json.dumps(msgspec.to_builtins(hidden))
    assert "Ashworth" not in said
    assert "Birchwood" not in said
    assert len(set(hidden.values.tenants)) == 2


def test_one_tenant_has_nobody_to_be_kept_apart_from(tmp_path: Path) -> None:
    report = audit_records(tmp_path, [call("ash", None, 0), call("ash", None, 60)])
    assert (found(report), report.exit_code) == ([], 0)
    with pytest.raises(UserError, match="names a tenant") as raised:
        audit_records(tmp_path, [call("", None, 0)])
    assert "--tenant-field" in raised.value.help


def test_tenants_whose_names_look_alike_when_cut_or_masked_stay_apart(tmp_path: Path) -> None:
    names = ["one.person@mail.example", "two.person@mail.example", "x" * 60 + "1", "x" * 60 + "2"]
    report = audit_records(tmp_path, [call(name, None, at, system=LONG) for at, name in enumerate(names)])
    assert len(set(report.values.tenants)) == len(names)
    assert "one.person" not in str(report.values.tenants)
    matrix = next(block for block in report.blocks if block.name == "exposure")
    assert sum(cell or 0 for row in matrix.cells for cell in row) == report.values.exposed_tokens


def test_a_gateway_s_configuration_shows_one_credential_and_callers_who_are_not_asked(tmp_path: Path) -> None:
    litellm = """model_list:
  - model_name: gpt-4o
    litellm_params:
      model: openai/gpt-4o
      api_key: os.environ/OPENAI_API_KEY
"""
    records = [call(tenant, None, at, f"Question {at}?", LONG) for at, tenant in enumerate("ab")]
    for record in records:
        record["request"]["model"] = "gpt-4o"
    report = audit_records(tmp_path, records, configs=[("litellm.yaml", litellm)])
    spans = {one.rule: one.span.line for one in report.findings if one.span is not None}
    assert spans == {"cache-key-as-isolation": 5, "default-namespace-fallback": 2}
    locked = litellm + "general_settings:\n  master_key: os.environ/KEY\n"
    report = audit_records(tmp_path, records, configs=[("litellm.yaml", locked)])
    assert "default-namespace-fallback" not in found(report)


def test_an_extra_key_of_sglang_is_judged_as_a_salt(tmp_path: Path) -> None:
    records = [call(name, None, at, extra_key=f"tenant-{name}") for at, name in enumerate(["ashworth", "birchwood"])]
    assert found(audit_records(tmp_path, records)) == ["salt-guessable"]


def test_an_open_model_behind_a_configured_engine_is_not_the_provider_s(tmp_path: Path) -> None:
    records = [call(tenant, None, at, model="gpt-oss-20b") for at, tenant in enumerate("ab")]
    report = audit_records(tmp_path, records, configs=[("run.sh", "vllm serve openai/gpt-oss-20b --block-size 128")])
    assert "salt-absent" in found(report)
    assert "cache-key-as-isolation" not in found(report)
