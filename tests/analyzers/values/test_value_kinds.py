"""What a value that differs from call to call is: real-looking places, and others that only look like them."""

from __future__ import annotations

import pytest
from support.spans import described

from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Confidence

IDENTIFIERS = [
    "Request id: «c463d8de-8d4a-4e40-936c-e46bb6cc6849¦0978ff77-032c-4771-8d9f-699569666a59»",
    "Session «c463d8de-8d4a-4e40-936c-e46bb6cc6849¦0978ff77-032c-4771-8d9f-699569666a59» of the desk",
    "urn:uuid:«c463d8de-8d4a-4e40-936c-e46bb6cc6849¦0978ff77-032c-4771-8d9f-699569666a59»",
    "trace=«01HV5N8X2K7QZJ3M4R6T9WBYCD¦01HV5N8Z9P1GQ4E7S2A5D8FHKM»",
    "run «2FfGhJkL9mNp3QrS5tUvW7xYz1A¦2FfGhK4zT8wQe1RmNb6VcXsD3pL»",
    "x-billing-header: cch=«a91f3;¦07bc2;»",
    "nonce: «k3v9¦p0x2»",
    "Nonce «41ab¦9f07»",
    "correlation-id: «8f14e45f¦c9f0f895»",
    "traceparent: 00-«4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7¦0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331»-01",
    '{"message_id":"7f31-068«2¦4»"}',
    '{"message_id": «48213¦48227», "channel": "chat"}',
    "message id: «1187654321098765432¦1187654398721765433»",
    "[Telegram +47 id:«5521¦5540»] hello",
    "reply_to_id: «88131¦88146»",
    "call_«DMFP4xXxrt8YxuXaBSgTt9wE¦VRKqFDmGgg3xoXg3vHaNUAPn»",
    "tool use toolu_«01A09q90qw90lq917835lq9¦01BvXq8h2k5mPz3RtYw7NcLd»",
    "msg_«013Zva2CMHLNnjNjtJKYdGUB¦01XFDUDYJgAACzvnptvVoYEL»",
    "request req_«011CSHoEeqs5C35K2UUqR7Fy¦018EeWyXxfu5pfWkrYcMdjWG» started",
    "thread_«abc3Kd92LmQ0¦xYz81PqR7tUv»",
    "order-«55210¦55384» is open",
    "ticket «TCK-8841-A2¦TCK-8842-B7» was opened",
    "Authorization: Bearer «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmN¦eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIyIn0.aG8xKq0ZyLpW3mVt»",
    "image https://cdn.example.org/a.png?sig=«9fB3xQ7LmZ0aTc5R¦K2vP8sWnY4dJ6hGe»",
    "digest: sha256:«9f86d081884c7d659a2feaa0c55ad015¦60303ae22b998861bce3b28f33eec1be»",
    'etag "«5d8c72a5edda8d6a¦3f2a9b10c44e8d71»"',
    "idempotency key «8a7d-11f0-9b2c¦02ce-55ab-7f10»",
    '<invocation id="«b7ad6b71¦69203331»">',
    "conversation ref: «ab12cd¦zx90qw»",
    "boundary=«----7MA4YWxkTrZu0gW¦----9KQ2XbLpVnYt3dR»",
    "span_id: «00f067aa0ba902b7¦b7ad6b7169203331»",
    "session_id=«s9X2kLm4Qp¦t1Yb7Nc3Wd»",
    "cache seed «0x5f3759df¦0x1b873593»",
    "Job job_«4821¦4830» runs",
    "object 0x«7f8a3c0012d0¦7f8a3c0999a0»",
]
COUNTERS = [
    "Context budget: 11«8,400¦2,950» of 128,000 tokens left.",
    "<total_tokens>«18400¦21950»</total_tokens>",
    "[«49% - 1,085/2,200¦61% - 1,342/2,200» chars]",
    "Current round: «3¦4»",
    "Turn «12¦13» of this conversation.",
    "Iteration «1¦2»/10",
    "Attempt «1¦2» of 5",
    "You have «5¦4» attempts left.",
    "Cost so far: $«3.20¦3.85»",
    "Budget remaining: «12.50¦11.75» USD",
    "Messages so far: «8¦10»",
    "Step «4¦5»: choose a tool",
    "Context used: «37¦41»%",
    "Tokens used: 1«.2¦.9»k",
    "usage: «1 204¦1 388» tokens",
    "Verbleibend: «1.234¦1.102» Tokens",
    "elapsed: 00:1«4:07¦9:31»",
    "Uptime «3:12:07¦3:15:40»",
    "tool calls: «17¦19»",
    "| Credits | «940¦935» |",
    '{"state":{"turns":«7¦8»,"mode":"plan"}}',
    "progress: «40¦55» %",
    "retries=«0¦1»",
    "Étape «2¦3» sur 6",
]
COUNTER_SERIES = [
    ("Pool «900¦850» units", ("900", "850", "790", "700")),
    ("level «3¦4»", ("3", "4", "5")),
    ("Reserve 1«18,400¦12,950»", ("118,400", "112,950", "104,205", "99,870")),
    ("[«12/40¦19/40»]", ("[12/40]", "[19/40]", "[33/40]")),
    ("Tokens left: «120¦80»", ("120", "80", "40", "20", "118", "90")),
]
VERSIONS = [
    "Prompt v3.2.«0¦1»",
    "desk assistant, build «812¦815»",
    "version: «1.4¦1.5»",
    "Model: «gpt-4o-2024-08-06¦gpt-4.1-2025-04-14»",
    "claude-sonnet-4-«5-20250929¦20250514»",
    "You are «claude-opus-4-1¦claude-sonnet-4-5», made for desk work.",
    "SDK 2.0.0-rc«1¦2»",
    "API version «2023-06-01¦2024-10-22»",
    "released as v«1.9.0¦2.0.0»",
    "schema rev «17¦18»",
    "firmware r«41¦42»",
    "python 3.12.«4¦7»",
]
ENVIRONMENT = [
    "Working directory: /workspace/«stacker-fw¦stacker-ui»",
    "cwd: «/home/mia/app¦/home/mia/app/tests»",
    "<env>\nWorking directory: /tmp/run-«8f3a2b1c9d¦02ce55ab7f»/repo\n</env>",
    "Git status at this step:\nOn branch lift-overshoot\n«nothing to commit, working tree clean¦ M src/lift/profile.c»\n\n# Reminders",
    "Git status:\n M src/a.c\n«¦?? tests/lift/clamp_case.c\n»\n# Reminders",
    "gitStatus: On branch «main¦lift-overshoot»",
    "Current branch: «main¦feature/retry»",
    "## main...origin/main [ahead «1¦2»]\n M a.py",
    "Recent commits:\n«8f3a2b1 Fix the lift\n¦02ce55a Clamp the motor\n8f3a2b1 Fix the lift\n»1b87359 Start",
    "hostname: «runner-x7f2¦runner-k91p»",
    "Host: ip-10-0-«3-17¦4-201».ec2.internal",
    "Platform: «linux¦darwin»",
    "OS Version: «Linux 6.8.0-45¦Darwin 24.1.0»",
    "Shell: «bash¦zsh»",
    "Open files:\n- src/«lift/profile.c¦motor/pid.c»\n",
    "# Files\n«README.md\nsetup.cfg\nsrc/a.py\n¦README.md\nsetup.cfg\nsrc/a.py\nsrc/b.py\n»\n# Tone",
    "<files>\nsrc/a.py\n«src/b.py\n¦src/b.py\nsrc/c.py\n»</files>",
    "PWD=«C:\\Users\\mia\\app¦C:\\Users\\mia\\app\\src»",
    "describe: «v2.4.1-14-g8f3a2b1¦v2.4.1-15-g02ce55a-dirty»",
    "sandbox url: http://«sbx-81.internal¦sbx-94.internal»:8080",
    "    modified:   src/«a.c¦b.c»",
    "container: «web-7d9f8b6c5-x2x9p¦web-7d9f8b6c5-kq41z»",
    "<environment_details>\n# VSCode Open Tabs\n«src/main.ts¦src/app.ts,src/main.ts»\n</environment_details>",
    "commit: «8f3a2b1¦02ce55a»",
]
PROSE = [
    "# Passages for this question\n[1] Clause «4.2. Sudden escape of water is examined under the heading 'home systems'. The source has to be named.¦9.1. Steps that prevent further damage may start at once.»\n\n# Answer format",
    "# What you remember about this rider\n- «rides on weekdays between seven and eight\n- asked about cargo bicycles in spring¦asked about cargo bicycles in spring\n- had a stuck lock at Old Harbour»\n\n# Tone",
    "<context>\n«The harbour office opens at eight. Boats longer than nine metres need a pilot.¦Fees are paid in advance. Guests may stay for fourteen nights at most.»\n</context>",
    "<memory>\n«¦- prefers window seats on the morning ferry\n- travels with a dog\n»</memory>",
    "Relevant notes:\n- «the customer asked for a refund in May¦the parcel was left with a neighbour»",
    "Search results:\n1. «Ferries to Torsay run every two hours in winter and hourly in summer¦The winter timetable starts on the last Sunday of October every year»",
    "Background: «The mill was built by two brothers who had come from the coast and wanted to leave it behind them for good.¦The bridge was paid for by the town after the old one had been carried away by the ice in spring.»",
    "# Kontext\n«Der Schaden ist innerhalb von drei Tagen zu melden. Danach entfällt der Anspruch.¦Die Kosten trägt der Halter. Ein Nachweis ist beizulegen.»",
    "<documents>\n«港の事務所は八時に開きます。九メートルを超える船には水先人が必要です。¦料金は前払いです。お客様は最長十四泊まで滞在できます。»\n</documents>",
    "Summary of the conversation: «the traveller wants to move the booking to Friday¦the traveller has two bicycles and a trailer with her»",
]
PEOPLE = [
    "Traveller: traveller-«5521¦0917»\nHome harbour: Torsay",
    "User: «mia.holm@example.org¦jon.berg@example.org»",
    "Customer name: «Mia Holm¦Jonas Berg»",
    "You are talking to «Mia¦Jonas».",
    "Hello «Anna¦Bertil», how can we help?",
    "Locale: «sv-SE¦en-GB»",
    "user_locale=«de_DE¦fr_FR»",
    "Plan: «gold¦basic»",
    "<user>\n  <name>«Mia Holm¦Jonas Berg»</name>\n</user>",
    '{"customer":{"city":"«Oslo¦Bergen»","tier":"gold"}}',
    "Phone: +47 «912 34 567¦934 11 020»",
    "Account: ACC-«10442¦10931»",
    "customer_id: «cus_9s6XKzkNRiz8i3¦cus_4fdAW5ftNQow1a»",
    "Guest: Ms «Aldana¦Okafor»",
    "Preferred language: «Swedish¦German»",
    "- City: «Torsay¦Mainland»",
    "The user's name is «Mia¦Jonas».",
    "Kunde: «Erika Musterfrau¦Hans Beispiel»",
    "tenant: «north-desk¦south-desk»",
]
LOCALES = [
    "Total: «1,234.50¦1.234,50»",
    "spent «12.5¦12,5» units",
    "balance «1,234,567¦1 234 567»",
    "Date: «03/17/2026¦17.03.2026»",
    "It is «9:14 PM¦21:14» now",
    "Today is «17 March 2026¦17. März 2026»",
    "Today is «Tuesday¦Dienstag»",
    "Today: «March 17, 2026¦17 March 2026»",
    "Updated «2026-03-17¦17/03/2026»",
]
ORDERS = [
    "Topics: «billing, docks, passes¦passes, billing, docks»",
    "Tags: «a; b; c¦c; a; b»\nEnd",
    "Tools you may use:\n- «search\n- mail\n- calendar¦calendar\n- mail\n- search»\n\nBe brief.",
    "# Rules\n«1. Be brief.\n2. Be kind.¦1. Be kind.\n2. Be brief.»\n",
    "Allowed: «red, green and blue¦blue, red and green».",
    "«Be kind. Be brief.¦Be brief. Be kind.»",
    "# Files\n«b.py\na.py\nc.py¦a.py\nb.py\nc.py»\n\n# End",
]
EXAMPLES = [
    "# Examples\n«Example 1:\nred -> warm\n\nExample 2:\nblue -> cold¦Example 1:\nblue -> cold\n\nExample 2:\nred -> warm»\n",
    "Here are examples.\n«Q: What is two and two?\nA: four\n\nQ: Name a bird.\nA: wren¦Q: Name a bird.\nA: wren\n\nQ: What is two and two?\nA: four»\n",
    "# Few-shot examples\n«Input: the lock is stuck\nOutput: lock\nInput: I was charged twice\nOutput: billing¦Input: I was charged twice\nOutput: billing\nInput: the dock is full\nOutput: dock»\n",
    "## Examples\n<example>«the ferry is late</example>\n<example>I lost my bag</example>¦I want a refund</example>\n<example>where is gate two</example>»\n",
]
WHITE = [
    "It will come as promised.«\n\n¦»",
    "Rules:«  ¦ »be brief",
    "- one\n«  ¦    »- two",
    "one\n«¦\n»two",
    "trailing «  ¦»\nnext line",
    "a«\t¦    »b",
]
LINE_ENDS = ["one«\r\n¦\n»two", "one«\n¦\r\n»two\n", "one«\r¦\n»two"]
UNICODE = [
    "Vi reser fr«\u00e5¦a\u030a»n K\u00e5revik",
    'a «\u201cgood\u201d¦"good"» day',
    "5«\u2013¦-»10 days",
    "12«\u00a0¦ »000",
    "caf«\u00e9¦\\u00e9» au lait",
    "na«\u00ef¦i»ve",
    "«\ufeff¦»You are terse.",
    "10 m«\u00b2¦2»",
    "wait«\u2026¦...» now",
    "«Q&amp;A¦Q&A» desk — ok",
]
JSON = [
    '{"«origin": "Mainland", "day": "thursday"¦day":"thursday","origin":"Mainland"»}',
    '{"a":«1,"b":2¦ 1, "b": 2»}',
    '{"amount":«2.0¦2»,"unit":"l"}',
    'Schema:\n{"type":"object","«properties":{"x":{}},"required":["x"]¦required":["x"],"properties":{"x":{}}»}\n\nBe brief.',
    '{"name":"K«\u00e5¦\\u00e5»revik"}',
    "path a«/¦\\/»b",
]
OTHERS = [
    "Room «12¦14» is the quiet one",
    "Clause «4¦9» applies",
    "Mode: «plan¦build»",
    "reasoning effort «medium¦high»",
    "«auto¦none»",
    "«open_refund¦lost_item_search»",
    "«mcp__coldroom__door_state¦record_temperature»",
    "price «12¦15»",
    "The «red¦blue» door",
    "The word is «internationalisation¦misunderstanding»",
    "getUserName«ById¦ByMail»",
    "«thinking¦tool_use»",
    "call_«weather¦calendar»",
    "the fac«ade¦ing»",
    "score: «3¦5»",
    "size «120x80¦200x90»",
    "colour #«ff8800¦336699»",
    "us-east-1a-prod-«2b¦2c»",
    "Temperature outside: «4¦7»",
    "page «3¦4» of the handbook",
    "User: «hello¦thanks»",
    "Plan: «refactor¦test»",
    "name: «open_refund¦lost_item»",
    "model name: «Alpha¦Beta»",
    "«yes¦no»",
    "He paid «3¦4» visits",
    "iPhone15«Pro¦Max»",
    "week,shop\n«10,AL,3.53¦11,FC,3.27»\n",
    "Use «tabs¦spaces»",
    "weight 1«2.5¦3.5» kg",
    "latitude 59.«3293¦9127»",
]

TABLE = [
    *((SpanKind.IDENTIFIER, row) for row in IDENTIFIERS),
    *((SpanKind.COUNTER, row) for row in COUNTERS),
    *((SpanKind.VERSION, row) for row in VERSIONS),
    *((SpanKind.ENVIRONMENT, row) for row in ENVIRONMENT),
    *((SpanKind.PROSE, row) for row in PROSE),
    *((SpanKind.PERSON, row) for row in PEOPLE),
    *((SpanKind.LOCALE, row) for row in LOCALES),
    *((SpanKind.ORDER, row) for row in ORDERS),
    *((SpanKind.EXAMPLES, row) for row in EXAMPLES),
    *((SpanKind.WHITE_SPACE, row) for row in WHITE),
    *((SpanKind.LINE_ENDS, row) for row in LINE_ENDS),
    *((SpanKind.UNICODE, row) for row in UNICODE),
    *((SpanKind.JSON_FORM, row) for row in JSON),
    *((SpanKind.OTHER, row) for row in OTHERS),
]


@pytest.mark.parametrize(("kind", "row"), TABLE, ids=[f"{kind}-{number}" for number, (kind, _) in enumerate(TABLE)])
def test_a_value_is_what_it_is(kind: SpanKind, row: str) -> None:
    assert described(row).kind is kind


@pytest.mark.parametrize(("row", "series"), COUNTER_SERIES)
def test_numbers_that_move_steadily_are_a_counter(row: str, series: tuple[str, ...]) -> None:
    assert described(row, series).kind is SpanKind.COUNTER


@pytest.mark.parametrize("series", [("3", "9", "4"), ("12", "15"), ("5", "5", "6")])
def test_numbers_that_jump_about_are_none(series: tuple[str, ...]) -> None:
    assert described(f"lot «{series[0]}¦{series[-1]}»", series).kind is SpanKind.OTHER


def test_what_proves_itself_is_certain_and_what_is_read_is_not() -> None:
    assert described("Topics: «a, b¦b, a»").confidence is Confidence.CERTAIN
    assert described("Current round: «3¦4»").confidence is Confidence.LIKELY
    assert described("lot «3¦4»").confidence is Confidence.POSSIBLE


def test_other_readings_are_kept_behind_the_likeliest() -> None:
    kinds = [candidate.kind for candidate in described("Room «12¦14» is quiet").candidates]
    assert kinds == [SpanKind.OTHER, SpanKind.COUNTER]
