"""Counters of servers around a run."""

import http.server
import threading
from contextlib import contextmanager

import pytest
from support.serving import QUICK, serving

from prefixwise.bench.counters import AUTO, Told, compare, counter_notes, told, watch_of
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.prometheus import read_page
from prefixwise.clients.protocol import PROTOCOLS
from prefixwise.core.errors import UserError

VLLM = """# HELP vllm:prefix_cache_queries_total Prefix cache queries, in terms of number of queried tokens.
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{{engine="0",model_name="a {{b}} \\"c\\" d"}} {queries0}
vllm:prefix_cache_queries_total{{engine="1",model_name="m"}} {queries1}
vllm:prefix_cache_queries_created{{engine="0",model_name="m"}} {created}
vllm:prefix_cache_hits_total{{engine="0",model_name="m"}} {hits}
vllm:external_prefix_cache_hits_total{{engine="0",model_name="m"}} {external}
vllm:prompt_tokens_total{{engine="0",model_name="m"}} {prompt}
process_start_time_seconds {started}
"""
GIVEN = {"queries0": 0, "queries1": 0, "hits": 0, "external": 0, "prompt": 0, "created": 1.7e9, "started": 1.7e9}


def vllm(**more):
    return read_page(VLLM.format(**{**GIVEN, **more}))


def checked(before, after, prompt=None, cached=None):
    return compare(["page"], [before], [after], Told(prompt, cached))


def test_a_page_is_read_with_all_its_labels():
    page = vllm(queries0="1.5e+03", queries1=200)
    assert page.total("vllm:prefix_cache_queries_total") == 1700
    assert page.series("vllm:prefix_cache_queries_total") == {
        '{engine="0",model_name="a {b} \\"c\\" d"}': 1500,
        '{engine="1",model_name="m"}': 200,
    }
    assert page.total("vllm:nothing") is None
    assert read_page("<html>\n{x} 3\nname\nname x\nok 2 1700000000\n").samples == {"ok": {"": 2}}


def test_what_grew_is_summed_over_engines_and_held_against_the_answers():
    before = vllm(queries0=1000, queries1=500, hits=700, prompt=1500)
    after = vllm(queries0=1200, queries1=600, hits=820, external=30, prompt=1800)
    found = checked(before, after, prompt=300, cached=150)
    assert [(one.what, one.tokens) for one in found.counters] == [
        ("prompt", 300),
        ("looked_up", 300),
        ("hits", 120),
        ("external_hits", 30),
    ]
    assert (found.exclusive, found.agrees, found.reset, found.hit_rate) == (True, True, False, 0.5)
    assert counter_notes(found) == ()


def test_other_users_of_the_server_are_seen():
    found = checked(vllm(), vllm(queries0=900, hits=500, prompt=900), prompt=300, cached=150)
    assert (found.exclusive, found.agrees) == (False, False)
    (note,) = counter_notes(found)
    assert "its cache is shared" in note


def test_answers_that_lie_are_seen():
    found = checked(vllm(), vllm(queries0=300, hits=100, prompt=300), prompt=300, cached=299)
    assert (found.exclusive, found.agrees) == (True, False)
    assert "disagree" in counter_notes(found)[0]


def test_absent_is_not_zero():
    found = checked(vllm(), vllm(queries0=300, hits=100, prompt=300))
    assert (found.exclusive, found.agrees, found.hit_rate) == (None, None, pytest.approx(1 / 3))
    silent = checked(read_page("vllm:prompt_tokens_total 5\n"), read_page("vllm:prompt_tokens_total 9\n"), 4, 0)
    assert (silent.exclusive, silent.agrees, silent.hit_rate) == (True, None, None)


@pytest.mark.parametrize(
    "after",
    [
        {"hits": 10, "prompt": 2000, "queries0": 2000},  # a counter fell
        {"hits": 5000, "prompt": 5000, "queries0": 5000, "created": 1.8e9},  # it has passed where it was
        {"hits": 5000, "prompt": 5000, "queries0": 5000, "started": 1.8e9},
    ],
)
def test_a_server_that_began_anew_is_seen(after):
    found = checked(vllm(hits=700, prompt=1500, queries0=1000), vllm(**after), prompt=300, cached=150)
    assert found.reset
    assert {one.tokens for one in found.counters} == {None}
    assert (found.exclusive, found.agrees, found.hit_rate) == (None, None, None)
    assert "began anew" in counter_notes(found)[0]


def test_a_series_that_is_gone_is_a_new_beginning():
    before = read_page('sglang:cached_tokens_total{cache_source="host"} 5\n')
    assert checked(before, read_page('sglang:cached_tokens_total{cache_source="device"} 9\n')).reset
    grown = read_page(
        'sglang:cached_tokens_total{cache_source="host"} 5\nsglang:cached_tokens_total{cache_source="device"} 9\n'
    )
    assert checked(before, grown).counters[0].tokens == 9


@pytest.mark.parametrize(
    ("page", "system"),
    [
        ("sglang:prompt_tokens_total {0}\nsglang:cached_tokens_total {1}\n", "SGLang"),
        ("vllm:prompt_tokens_total {0}\nvllm:gpu_prefix_cache_hits_total {1}\n", "vLLM"),
    ],
)
def test_names_of_engines(page, system):
    found = checked(read_page(page.format(10, 5)), read_page(page.format(110, 85)), prompt=100, cached=80)
    assert {one.system for one in found.counters} == {system}
    assert (found.exclusive, found.agrees, found.hit_rate) == (True, True, 0.8)


def test_what_lmcache_counts_is_shown_but_no_usage():
    """Its tier is asked for what the engine has not: 99 of 1578 tokens where the engine itself had 1435."""
    page = "lmcache:num_requested_tokens_total {0}\nlmcache:num_hit_tokens_total {1}\n"
    found = checked(read_page(page.format(0, 0)), read_page(page.format(143, 99)), prompt=1578, cached=1534)
    assert [(one.what, one.tokens) for one in found.counters] == [("looked_up", 143), ("hits", 99)]
    assert (found.exclusive, found.agrees) == (None, None)


def test_sums_of_answers_need_all_of_them():
    assert told([(10, 5), (20, 0)], complete=True) == Told(30, 5)
    assert told([(10, 5), (20, None)], complete=True) == Told(30, None)
    assert told([(10, 5)], complete=False) == Told(None, None)


def watch(url: str, *asked: str, protocol: str = "prefixwise"):
    return watch_of(asked, Endpoint(url, PROTOCOLS.get(protocol), "sim", key="secret"))


def test_the_counters_of_our_server_agree_with_its_answers():
    with serving(QUICK) as running:
        running.text("x" * 100, max_tokens=1)
        around = watch(running.url, AUTO)
        around.begin()
        for _ in range(2):
            running.text("y" * 100, max_tokens=1)
        found = around.check(Told(200, 96))
        assert (found.exclusive, found.agrees, found.reset) == (True, True, False)
        assert found.hit_rate == pytest.approx(0.48)
        running.text("z" * 100, max_tokens=1)
        assert around.check(Told(200, 96)).exclusive is False


def test_pages_that_are_none_are_one_clear_error():
    with serving(QUICK) as running:
        with pytest.raises(UserError, match="HTTP status 404"):
            watch(running.url, f"{running.url}/nothing").begin()
        with pytest.raises(UserError, match="no sample"):
            watch(running.url, f"{running.url}/health").begin()
    with pytest.raises(UserError, match="no metrics there"):
        watch(running.url, "http://127.0.0.1:9/metrics").begin()
    with pytest.raises(UserError, match="has no page of metrics"):
        watch(running.url, AUTO, protocol="openai-chat")
    assert watch(running.url) is None


@contextmanager
def paged(text: str):
    """Serve one page; yield its address and the header fields of what came."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(dict(self.headers))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_key_goes_to_its_own_endpoint_only():
    with paged("other:requests_total 5\nvllm:prompt_tokens_total 1\n") as (url, seen):
        watch_of([AUTO], Endpoint(url, PROTOCOLS.get("vllm"), "m", key="secret")).begin()
        watch_of([f"{url}/metrics"], Endpoint("http://h", PROTOCOLS.get("vllm"), "m", key="secret")).begin()
    assert ["secret" in str(fields) for fields in seen] == [True, False]


def test_a_page_without_a_counter_of_a_cache_is_refused():
    with paged("router:requests_total 5\n") as (url, _), pytest.raises(UserError, match="no counter of a prefix cache"):
        watch(url, f"{url}/metrics").begin()
