"""The accounts for people: where every prompt token went, the way from the ceiling to what was reported, and fixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefixwise.analyzers.accounts.chain import ACCOUNTS, CACHED, FIRST_SEEN, INTERACTION, UNSTABLE
from prefixwise.analyzers.accounts.fixed import MOST_REPAIRS, Fixed, Gain
from prefixwise.analyzers.accounts.totals import AccountTotals
from prefixwise.analyzers.group_names import group_name
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import Finding
from prefixwise.core.report import Block, Cell, Column, Details, Table, Unit, Waterfall

_MOST_GROUPS = 20
NAMES = {
    CACHED: "cached",
    "misrouted": "on another replica",
    "evicted": "evicted",
    "expired": "expired",
    "in_flight": "not yet readable",
    "granularity": "within a unit",
    "isolated": "in another namespace",
    UNSTABLE: "unstable text",
    FIRST_SEEN: "new",
    INTERACTION: "interaction",
}
"""What people read instead of an account's name."""
MEANINGS = {
    CACHED: "served under the rule",
    "misrouted": "shared, but with a request on another replica",
    "evicted": "shared, but pushed out",
    "expired": "shared, but past its lifetime",
    "in_flight": "shared, but still being computed or written",
    "granularity": "shared, but below the rule's block, minimum length or marker",
    "isolated": "another tenant, key, salt or adapter of the model had it",
    UNSTABLE: "the fixes would save it",
    FIRST_SEEN: "no earlier request had it",
    INTERACTION: "what a relaxation took away again",
}


def account_blocks(
    totals: AccountTotals, excerpts: Excerpts = Excerpts.MASKED, *, brief: bool = False
) -> Iterator[Block]:
    """Yield the accounts as a table, as a waterfall, and by group: in brief where nobody asked for groups."""
    yield _table(totals)
    yield waterfall(totals)
    for field in totals.by:
        yield _groups(field, totals, excerpts, brief=brief)


def _table(totals: AccountTotals) -> Table:
    shown = [one for one in totals.sums if one.tokens or one.account in (CACHED, FIRST_SEEN)]
    has_usd = any(one.usd is not None for one in shown)
    has_time = any(one.prefill_s is not None for one in shown)
    columns = [
        Column("account", "account"),
        Column("tokens", "tokens", Unit.TOKENS),
        Column("share", "of all", Unit.RATE),
        *([Column("usd", "worth", Unit.USD)] if has_usd else []),
        *([Column("prefill_s", "prefill", Unit.SECONDS)] if has_time else []),
        Column("meaning", "what that is"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for one in shown:
        share = one.tokens / totals.prompt_tokens if totals.prompt_tokens else None
        money = [None if one.account == FIRST_SEEN else one.usd] if has_usd else []
        time = [one.prefill_s] if has_time else []
        rows.append((NAMES[one.account], one.tokens, share, *money, *time, MEANINGS[one.account]))
    note = f"Under {totals.rule}; every prompt token is in one account."
    if has_usd:
        note += " Worth: what reading them from the cache saves, or would have saved, at list price."
    if not totals.has_fixes:
        note += " --fixes tells what of the new tokens is only unstable text."
    return Table("accounts", "Where the prompt tokens went", tuple(columns), tuple(rows), note, ("share",))


def waterfall(totals: AccountTotals) -> Waterfall:
    """Return the way from what could be served at most to what was reported, or modelled where nothing is."""
    steps: list[tuple[str, float]] = []
    for account in reversed(ACCOUNTS):
        tokens = totals.tokens(account)
        if account in (CACHED, FIRST_SEEN) or not tokens:
            continue
        steps.append((NAMES[account], -float(tokens)))
    end = ("modelled", float(totals.tokens(CACHED)))
    reported = totals.reported
    if reported is not None:
        if totals.unreported:
            steps.append(("calls without usage", -float(totals.unreported)))
        if totals.unexplained:
            steps.append(("unexplained", -float(totals.unexplained)))
        end = ("reported", float(reported))
    note = "Unexplained: what the rule serves beyond what the log's usage says." if totals.unexplained else ""
    name = "with all fixes, at most" if totals.has_fixes else "at most"
    return Waterfall(
        "waterfall",
        f"From the ceiling to what was {end[0]}",
        Unit.TOKENS,
        (name, float(totals.ceiling)),
        tuple(steps),
        end,
        note,
    )


def _groups(field: str, totals: AccountTotals, excerpts: Excerpts, *, brief: bool) -> Table:
    used = [account for account in ACCOUNTS if account == CACHED or totals.tokens(account)]
    columns = (
        Column(field, field),
        Column("prompt_tokens", "prompt tokens", Unit.TOKENS),
        *(Column(account, NAMES[account], Unit.RATE) for account in used),
    )
    groups = totals.by[field]
    rows = tuple(
        (
            group_name(field, group.number, group.name, excerpts),
            group.prompt_tokens,
            *(group.tokens[account] / group.prompt_tokens if group.prompt_tokens else None for account in used),
        )
        for group in groups[:_MOST_GROUPS]
    )
    left = len(groups) - _MOST_GROUPS
    note = f"{left:,} more with fewer tokens." if left > 0 else ""
    return Table(f"accounts_by_{field}", f"Where they went, by {field}", columns, rows, note, tuple(used), brief=brief)


def fix_blocks(fixed: Fixed) -> Iterator[Block]:
    """Yield what each fix saves, and all of them."""
    if not fixed.gains:
        return
    has_usd = fixed.saved_usd is not None
    columns = (
        Column("rule", "fix"),
        Column("saved_tokens", "saves tokens", Unit.TOKENS),
        *([Column("saved_usd", "worth", Unit.USD)] if has_usd else []),
        Column("hit_rate", "hit rate", Unit.RATE),
        Column("requests", "requests", Unit.COUNT),
        Column("at", "first seen at"),
    )
    rows = [_gain(gain, has_usd) for gain in fixed.gains]
    if fixed.interaction:
        rows.append(("interaction", fixed.interaction, *([None] if has_usd else []), None, None, None))
    money = [fixed.saved_usd] if has_usd else []
    rows.append(("all together", fixed.saved_tokens, *money, fixed.after.hit_rate, None, None))
    told = [_told(gain.finding) for gain in fixed.gains]
    told += [()] * (len(rows) - len(told))
    title = "What to change first, and what it saves"
    yield Table("fixes", title, columns, tuple(rows), _fix_note(fixed), ("saved_tokens",), tuple(told))


def _told(finding: Finding) -> Details:
    """Return what is wrong, where, and how to mend it."""
    field = [] if finding.field is None else [finding.field or "the whole body"]
    at = [] if finding.char_offset is None else [f"character {finding.char_offset:,}"]
    told = [("what", finding.message)]
    told += [("fix", finding.fix.summary)] if finding.fix.summary else []
    told.append(("where", ", ".join((finding.place, *field, *at))))
    told += [("was", finding.from_text)] if finding.from_text else []
    told += [("became", finding.to_text)] if finding.to_text else []
    return (*told, *(("why", fact) for fact in finding.evidence))


def _gain(gain: Gain, has_usd: bool) -> tuple[Cell, ...]:
    finding, rate = gain.finding, gain.count.hit_rate
    money = [gain.saved_usd] if has_usd else []
    behind = " *" if gain.behind else ""
    return (f"{finding.rule} ({finding.code}){behind}", gain.saved_tokens, *money, rate, gain.requests, finding.place)


def _fix_note(fixed: Fixed) -> str:
    note = [
        f"Each fix is applied to the requests and they are counted again under {fixed.rule}, alone and all together; "
        "saves: prompt tokens that need not be computed any more."
    ]
    if any(gain.saved_tokens < 0 for gain in fixed.gains):
        note.append("What would cost more than it saves is left out of all together.")
    if any(gain.behind for gain in fixed.gains):
        note.append("* Hidden by those above, and counted once they are mended.")
    if fixed.interaction:
        note.append("Interaction: what all of them save beyond the sum of each alone.")
    if len(fixed.gains) >= MOST_REPAIRS:
        note.append(f"The {MOST_REPAIRS} costliest findings were tried.")
    if fixed.unmended:
        rules = ", ".join(dict.fromkeys(finding.rule for finding in fixed.unmended))
        note.append(f"No request shows a fix of {rules}: its tokens are in other accounts.")
    return " ".join(note)


def fixes_summary(fixed: Fixed) -> Sequence[str]:
    """Return a sentence on what to change first, none where nothing would save anything."""
    best = next((gain for gain in fixed.gains if gain.saved_tokens > 0), None)
    if best is None or fixed.after.hit_rate is None or fixed.before.hit_rate is None:
        return ()
    worth = f", ${best.saved_usd:,.4f}" if best.saved_usd else ""
    return (
        f"Change first: {best.finding.rule} at {best.finding.place}; that alone saves {best.saved_tokens:,} tokens"
        f"{worth}. With all fixes {100 * fixed.after.hit_rate:.1f} % would be served instead of "
        f"{100 * fixed.before.hit_rate:.1f} %.",
    )
