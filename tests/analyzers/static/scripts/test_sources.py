# ruff: noqa: E501 - scripts, a line each
"""What changes by itself, and how often; a twin that does not beside each."""

from __future__ import annotations

import pytest

from tests.support.scripts import read, sent

MOVES = [
    # expression, imports, kind, frequency, precision
    ("new Date()", "", "clock", "call", "second"),
    ("new Date().toISOString()", "", "clock", "call", "second"),
    ("new Date().toLocaleString()", "", "clock", "call", "second"),
    ("new Date().toLocaleString('en', { dateStyle: 'full', timeStyle: 'short' })", "", "clock", "call", "minute"),
    ("new Date().toLocaleDateString('en', { hour: 'numeric', day: 'numeric' })", "", "clock", "call", "hour"),
    ("new Date().toLocaleTimeString()", "", "clock", "call", "second"),
    ("new Date().toLocaleDateString()", "", "clock", "day", "day"),
    ("new Date().toDateString()", "", "clock", "day", "day"),
    ("new Date().toISOString().slice(0, 10)", "", "clock", "day", "day"),
    ("new Date().toISOString().slice(0, 16)", "", "clock", "call", "minute"),
    ("new Date().toISOString().split('T')[0]", "", "clock", "day", "day"),
    ("new Date().toISOString().split('T')[1]", "", "clock", "call", "second"),
    ("new Date().toISOString().substring(0, 13)", "", "clock", "call", "hour"),
    ("new Date().toISOString().replace(/T.*/, '')", "", "clock", "day", "day"),
    ("new Date(Date.now()).getHours()", "", "clock", "call", "hour"),
    ("new Date().getDate()", "", "clock", "day", "day"),
    ("Date.now()", "", "clock", "call", "second"),
    ("Math.floor(Date.now() / 1000)", "", "clock", "call", "second"),
    ("Math.floor(Date.now() / 86_400_000)", "", "clock", "day", "day"),
    ("Math.floor(Date.now() / (1000 * 60 * 60))", "", "clock", "call", "hour"),
    ("performance.now()", "", "clock", "call", "second"),
    ("new Intl.DateTimeFormat('en', { dateStyle: 'long' }).format(new Date())", "", "clock", "day", "day"),
    ("new Intl.DateTimeFormat('en', { timeStyle: 'short' }).format()", "", "clock", "call", "minute"),
    ("Temporal.Now.instant().toString()", "", "clock", "call", "second"),
    ("Temporal.Now.plainDateISO().toString()", "", "clock", "day", "day"),
    ("moment().format('YYYY-MM-DD HH:mm')", "import moment from 'moment';", "clock", "call", "minute"),
    ("moment().format('YYYY-MM-DD')", "import moment from 'moment';", "clock", "day", "day"),
    ("dayjs().format('dddd, MMMM D')", "import dayjs from 'dayjs';", "clock", "day", "day"),
    ("dayjs().toISOString()", "const dayjs = require('dayjs');", "clock", "call", "second"),
    ("DateTime.now().toISO()", "import { DateTime } from 'luxon';", "clock", "call", "second"),
    ("DateTime.now().setZone(zone).toISODate()", "import { DateTime } from 'luxon';", "clock", "day", "day"),
    ("DateTime.local().toFormat('yyyy-MM-dd HH:mm')", "import { DateTime as DateTime } from 'luxon';", "clock", "call", "minute"),
    ("format(new Date(), 'yyyy-MM-dd')", "import { format } from 'date-fns';", "clock", "day", "day"),
    ("format(new Date(), 'PPpp HH:mm:ss')", "import { format } from 'date-fns';", "clock", "call", "second"),
    ("formatDate(new Date())", "import { formatDate } from './dates';", "clock", "call", "second"),
    ("moment(ticket.openedAt).fromNow()", "import moment from 'moment';", "relative time", "call", ""),
    ("formatDistanceToNow(opened)", "import { formatDistanceToNow } from 'date-fns';", "relative time", "call", ""),
    ("crypto.randomUUID()", "", "identifier", "call", ""),
    ("randomUUID()", "import { randomUUID } from 'node:crypto';", "identifier", "call", ""),
    ("randomUUID()", "const { randomUUID } = require('crypto');", "identifier", "call", ""),
    ("randomBytes(8).toString('hex')", "import { randomBytes } from 'crypto';", "identifier", "call", ""),
    ("uuidv4()", "import { v4 as uuidv4 } from 'uuid';", "identifier", "call", ""),
    ("uuid.v1()", "import * as uuid from 'uuid';", "identifier", "call", ""),
    ("nanoid(10)", "import { nanoid } from 'nanoid';", "identifier", "call", ""),
    ("ulid()", "import { ulid } from 'ulid';", "identifier", "call", ""),
    ("Math.random().toString(36).slice(2)", "", "identifier", "call", ""),
    ("GREETINGS[Math.floor(Math.random() * 3)]", "", "identifier", "call", ""),
    ("EXAMPLES[Math.floor(Math.random() * EXAMPLES.length)]", "", "examples", "call", ""),
    ("_.sampleSize(examples, 3).join('\\n')", "import _ from 'lodash';", "examples", "call", ""),
    ("shuffle(topics).join(', ')", "import shuffle from 'lodash/shuffle';", "unordered iteration", "call", ""),
    ("[...fewShot].sort(() => Math.random() - 0.5).join('')", "", "examples", "call", ""),
    ("process.cwd()", "", "environment", "session", ""),
    ("cwd()", "import { cwd } from 'node:process';", "environment", "session", ""),
    ("os.hostname()", "import os from 'os';", "environment", "process", ""),
    ("process.env.USER", "", "environment", "session", ""),
    ("process.env.TONE", "", "environment", "deploy", ""),
    ("execSync('git status --short').toString()", "import { execSync } from 'child_process';", "environment", "call", ""),
    ("(await execa('git', ['diff'])).stdout", "import { execa } from 'execa';", "environment", "call", ""),
    ("await $`git log --oneline -5`.text()", "import { $ } from 'bun';", "environment", "call", ""),
    ("execSync(`git -C ${root} branch`)", "import { execSync } from 'node:child_process';", "environment", "call", ""),
    ("(await run('git diff')).stdout", "const run = promisify(exec); import { exec } from 'child_process';", "environment", "call", ""),
    ("fs.readdirSync('notes').join('\\n')", "import fs from 'node:fs';", "unordered iteration", "process", ""),
    ("(await readdir(dir)).map((f) => `- ${f}`).join('\\n')", "import { readdir } from 'fs/promises';", "unordered iteration", "process", ""),
    ("(await glob('docs/*.md')).join('\\n')", "import { glob } from 'glob';", "unordered iteration", "process", ""),
    ("(await store.similaritySearch(question, 4)).map((d) => d.pageContent).join()", "", "retrieved text", "call", ""),
    ("await vectorStore.query(question)", "", "retrieved text", "call", ""),
    ("await searchKnowledgeBase(question)", "import { searchKnowledgeBase } from './kb';", "retrieved text", "call", ""),
    ("session.remainingBudget", "", "counter", "call", ""),
    ("account.spent.toLocaleString('de', { style: 'currency', currency: 'EUR' })", "", "counter", "call", ""),
    ("history.length", "", "counter", "call", ""),
    ("user.name", "", "person", "session", ""),
    ("(1200).constructor && total.toLocaleString(user.locale)", "", "locale", "session", ""),
]  # fmt: skip

STAYS = [
    ("new Date('2024-05-01').toISOString()", ""),
    ("new Date(0).toLocaleDateString()", ""),
    ("new Date(release.published).toLocaleDateString()", ""),
    ("new Date().getFullYear()", ""),
    ("moment('2024-05-01').format('LL')", "import moment from 'moment';"),
    ("dayjs().format('YYYY')", "import dayjs from 'dayjs';"),
    ("format(new Date(2024, 1, 1), 'PPP')", "import { format } from 'date-fns';"),
    ("Date.now() > deadline ? 'late' : 'on time'", ""),
    ("crypto.createHash('sha256').update(RULES).digest('hex')", "import crypto from 'node:crypto';"),
    ("v5('name', NAMESPACE)", "import { v5 } from 'uuid';"),
    ("Math.max(3, 5)", ""),
    ("Math.random() > 0.5 ? 'A' : 'B'", ""),
    ("EXAMPLES.join('\\n')", ""),
    ("GREETINGS[0]", ""),
    ("sortBy(topics).join(', ')", "import { sortBy } from 'lodash';"),
    ("fs.readdirSync('notes').sort().join('\\n')", "import fs from 'node:fs';"),
    ("(await readdir(dir)).toSorted().map((f) => `- ${f}`).join('\\n')", "import { readdir } from 'fs/promises';"),
    ("(await glob('docs/*.md')).map((f) => f.trim()).sort((a, b) => a.localeCompare(b)).join()", "import { glob } from 'glob';"),
    ("fs.readFileSync('rules.md', 'utf8')", "import fs from 'node:fs';"),
    ("execSync('node --version').toString()", "import { execSync } from 'child_process';"),
    ("new Set(['b', 'a', 'b']).size", ""),
    ("[...new Set(['b', 'a', 'b'])].join(', ')", ""),
    ("[...new Map([['a', 1]]).keys()].join(', ')", ""),
    ("Object.keys({ b: 1, a: 2 }).join(', ')", ""),
    ("JSON.stringify({ b: 1, a: 2 })", ""),
    ("agentName", ""),
    ("config.maxTurns", ""),
    ("price.toLocaleString('en-US')", ""),
    ("KNOWN.has(topic) ? 'known' : 'new'", ""),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "imports", "kind", "frequency", "precision"), MOVES)
def test_what_changes_by_itself_is_found(
    expression: str, imports: str, kind: str, frequency: str, precision: str
) -> None:
    volatiles, notes = read(sent(expression, imports=imports))
    assert [(one.kind, one.frequency, one.precision) for one in volatiles] == [(kind, frequency, precision)]
    assert not notes
    (one,) = volatiles
    assert one.quote in expression
    assert one.evidence
    assert one.area == "system"


@pytest.mark.parametrize(("expression", "imports"), STAYS)
def test_what_does_not_is_not(expression: str, imports: str) -> None:
    assert read(sent(expression, imports=imports)) == ((), ())


@pytest.mark.parametrize(("expression", "imports"), [row[:2] for row in MOVES])
def test_nothing_is_found_where_it_stands_behind_everything(expression: str, imports: str) -> None:
    code = sent("''", imports=imports).replace("content: question", f"content: `${{question}} ${{{expression}}}`")
    assert read(code)[0] == ()
