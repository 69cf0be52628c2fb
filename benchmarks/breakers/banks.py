"""Word banks: invented organisations that run assistants, and the sentences that their prompts are made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Domain:
    """One kind of organisation: its names, and the words that fill the slots of the sentences."""

    names: tuple[str, ...]
    trade: str
    guest: str
    staff: tuple[str, ...]
    thing: tuple[str, ...]
    place: tuple[str, ...]
    paper: tuple[str, ...]
    act: tuple[str, ...]
    code: str


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


DOMAINS = (
    Domain(
        _words("Skerry Line, Holm Sound Ferries, Tern Island Boats"),
        "a ferry line that joins five islands",
        "passenger",
        _words("purser, quay clerk, duty master"),
        _words("crossing, cabin, deck place, bicycle rack, pet kennel, freight slot, lounge seat, day ticket"),
        _words("north pier, harbour office, outer mole, car queue, ticket hall, winter berth"),
        _words("boarding card, freight note, tide table, complaint sheet, manifest"),
        _words("rebook, hold, release, upgrade, refund, split, transfer"),
        "FL",
    ),
    Domain(
        _words("Brindle Tool Hire, Anvil Yard Rentals, Copper Lane Hire"),
        "a yard that hires out building tools",
        "hirer",
        _words("yard hand, counter clerk, workshop lead"),
        _words("floor sander, tile cutter, mini digger, scaffold tower, pressure washer, breaker, trailer, dryer"),
        _words("back yard, wash bay, test bench, loading ramp, returns rack, key cabinet"),
        _words("hire slip, test record, damage card, delivery note, deposit receipt"),
        _words("reserve, inspect, extend, swap, collect, write off, recall"),
        "TH",
    ),
    Domain(
        _words("Willow End Vets, Paddock Street Animal Clinic, Otter Brook Practice"),
        "a veterinary practice with two surgeries",
        "pet owner",
        _words("nurse, receptionist, night vet"),
        _words("vaccination, dental check, blood panel, weight clinic, nail trim, X-ray, worming course, chip scan"),
        _words("lower surgery, kennel room, dispensary, waiting room, isolation ward, car park hatch"),
        _words("treatment plan, consent form, lab slip, insurance claim, dosage card"),
        _words("book, postpone, confirm, repeat, bill, refer, cancel"),
        "VP",
    ),
    Domain(
        _words("Lantern Playhouse, Corn Hall Theatre, Tallow Street Stage"),
        "a theatre with three stages and a touring van",
        "visitor",
        _words("usher, box office clerk, house manager"),
        _words("matinee seat, gallery seat, season pass, group booking, wheelchair place, programme, interval tray"),
        _words("upper foyer, stage door, cloakroom, gallery bar, scene dock, box four"),
        _words("seating plan, exchange voucher, donation form, running sheet, returns list"),
        _words("exchange, release, seat, block, refund, upgrade, waitlist"),
        "BX",
    ),
    Domain(
        _words("Quince Row Orchards, Hedge and Basket, Fieldfare Boxes"),
        "a co-operative that delivers fruit and vegetable boxes",
        "member",
        _words("packer, round driver, share secretary"),
        _words("half share, family box, egg tray, apple crate, salad add-on, bread order, seed swap, juice pallet"),
        _words("packing barn, cold store, village drop, orchard gate, returns shed, Thursday round"),
        _words("delivery card, share agreement, allergy note, harvest list, drop map"),
        _words("pause, move, double, skip, resume, donate, replace"),
        "QB",
    ),
    Domain(
        _words("Granite Works Climbing, Overhang Hall, Chalk and Rope"),
        "a climbing hall with courses and a rental desk",
        "climber",
        _words("route setter, desk volunteer, course lead"),
        _words("belay course, day pass, shoe rental, locker, youth group, auto-belay lane, kilter slot, rope bag"),
        _words("boulder cave, lead wall, training loft, rental desk, quiet corner, mat store"),
        _words("waiver, belay card, incident sheet, rota, course register"),
        _words("enrol, check in, retest, extend, close, lend, freeze"),
        "CH",
    ),
    Domain(
        _words("Meridian Parts Depot, Nine Bays Spares, Gantry Street Stores"),
        "a warehouse that ships spare parts for lifts and pumps",
        "technician",
        _words("picker, goods-in clerk, shift planner"),
        _words("seal kit, drive belt, control board, rope sheave, door motor, valve block, bearing set, relay"),
        _words("bay two, mezzanine, hazard cage, returns bench, night locker, cross-dock"),
        _words("pick list, packing slip, inspection tag, core return form, stock count"),
        _words("allocate, ship, quarantine, back-order, restock, scrap, expedite"),
        "PD",
    ),
    Domain(
        _words("Larch Meadow Camping, Heron Point Pitches, Saltmarsh Field Site"),
        "a camp site by a lake with pitches and huts",
        "camper",
        _words("warden, shop keeper, boat hand"),
        _words("tent pitch, hut night, canoe hour, fire bowl, electric hook-up, late arrival, sauna slot, bike hire"),
        _words("upper field, boat house, wash block, tree line, gate hut, fire circle"),
        _words("pitch plan, arrival card, noise log, key receipt, season permit"),
        _words("move, extend, open, close off, lend, waive, note"),
        "LM",
    ),
)

RULES = (
    "A {thing} may be held for {n} hours without payment; after that it is offered to the next {guest} in the queue.",
    "Only the {staff} can {act} a {thing} once the {paper} has been signed, and the reason goes into the log.",
    "If the {paper} names another {place} than the system does, trust the paper and leave a note under {code}.",
    "Never promise a {thing} at the {place} before the {staff} has confirmed it in writing.",
    "Fees for the {thing} are rounded to the half unit, and a total below {n} units is not charged at all.",
    "When two requests for the same {thing} arrive together, the one with the older {paper} goes first.",
    "The {place} closes at {hour}; what arrives later is handled on the next working day by the {staff}.",
    "A {guest} who wants to {act} a {thing} twice in one week needs the consent of the {staff}.",
    "Quote rule {code} whenever a {thing} is refused, and say what the {guest} can do instead.",
    "Keep the {paper} for {n} months, then remove names and keep only the counts.",
    "Groups of more than {n} people are split between the {place} and the {place2}, smaller ones are kept together.",
    "If the {thing} is out of order, offer the {thing2} at the same price and mark the case with {code}.",
    "The {staff} decides about damage; do not estimate costs, and do not apologise on behalf of the {place}.",
    "A lost {paper} is replaced once a year for free, and after that for {n} units.",
    "Do not {act} anything at the {place} while a count is running, since the numbers would not add up.",
    "Children under {n} need an adult for every {thing}; the adult's name stands on the {paper}.",
    "When the {place} is full, say so plainly and name the next free time instead of a waiting list.",
    "A change of a {thing} within {n} days of the date costs the difference, never a flat fee.",
    "Ask for the number of the {paper} before you {act} anything, and repeat the number in your answer.",
    "Messages to the {staff} are one sentence long and begin with the code {code}.",
    "The {thing} and the {thing2} cannot be combined on one {paper}; write two and link them.",
    "If weather closes the {place}, every {guest} may {act} without a fee until the end of the month.",
    "Prices for a {thing} are shown with tax for a private {guest} and without it for a firm.",
    "A {guest} with an open fee of more than {n} units can look at the {place} plan but cannot {act}.",
    "Photographs of the {place} are never sent; describe the way in at most {n} steps.",
    "The {staff} checks the {thing} every {n} weeks, and a missed check blocks it until the check is done.",
    "Corrections to a {paper} are made by striking out, not by deleting, so that the old value stays readable.",
    "For a {thing} at the {place}, add {n} minutes to whatever time the plan says.",
    "Do not pass on what one {guest} said about another, even if both stand on the same {paper}.",
    "If the {guest} writes in another language, answer in it, but keep the code {code} as it is.",
    "The {place2} takes over when the {place} is closed, except for a {thing}, which waits.",
    "A refund goes back the way the money came; a voucher becomes a voucher with {n} months of life.",
    "Mark anything unusual about a {thing} with {code} and go on; do not stop the case for it.",
    "The {paper} is valid at the {place} only, and a copy of it counts as nothing.",
)

MANNERS = (
    "Say first what you did, then why, then what the {guest} has to do next.",
    "Use short sentences and the words of the {guest}; leave out the names of systems.",
    "When a number is uncertain, give the range and say who knows the exact one.",
    "Ask no more than one question at a time, and only if the answer changes what you do.",
    "Lists have at most {n} entries; the rest is summed up in one line.",
    "Do not repeat the request in your answer, and do not thank the {guest} for waiting.",
    "If a rule forbids something, name the rule in brackets at the end of the sentence.",
    "Write times with a colon and amounts with two decimals, whatever the {guest} wrote.",
    "Offer a call from the {staff} when the same problem comes up a second time.",
    "Never guess the number of a {paper}; an empty field is better than a wrong one.",
)

ASKS = (
    "I have a {thing} at the {place} under {ref} and would like to {act} it, but the page keeps asking for a {paper}.",
    "{name} here. My {paper} says {hour} while the sign at the {place} says something else. Which one counts?",
    "Can you {act} the {thing} of {ref} so that it is together with the one of {name} at the {place2}?",
    "The {staff} told me that a {thing} costs {n} units, and now I see {m} on the {paper} for {ref}. Why is that?",
    "We are {n} people and one of us cannot come to the {place}. What happens to our {thing}, reference {ref}?",
    "Please {act} {ref}. If that is not possible, tell me what the {thing2} would cost at the {place}.",
    "My {thing} {ref} was not at the {place} when I came at {hour}. Who looks into that, and do I pay for it?",
    "Is it all right to bring the {paper} of {name} instead of mine for {ref}? We share the {thing}.",
    "I want to change {ref} from a {thing} to a {thing2}, and to come {n} days later. Is there a fee?",
    "How long can I keep the {thing} of {ref} if the {place} is closed on the day that I should bring it back?",
)

REPLIES = (
    "I can {act} {ref} today. The {thing} stays at the {place}, and the {paper} will show the change by {hour}.",
    "The sign at the {place} is the one that counts. Your {paper} was printed before the change; keep it anyway.",
    "The difference of {n} units comes from the {thing2} on the same {paper}. Rule {code} allows you to remove it.",
    "The {staff} has to confirm that. I have left a note for {ref}, and you hear from the {place} before {hour}.",
    "Yes, for a {thing} that works. Bring the {paper} to the {place2}, and name {ref} at the desk.",
    "That is not possible for this {thing} [{code}]. You can have a {thing2} at the same price, or {act} it later.",
    "I found {ref}: it was moved to the {place2} on {day}. Nothing has to be paid, and the {paper} stays valid.",
    "There is one place left at {hour}. If you want it, answer with the number of your {paper} and I will {act} it.",
)

NOTES = (
    "{name} prefers the {place} and wants every {thing} confirmed twice.",
    "Last {day} the {staff} had to {act} {ref} by hand, because the {paper} was unreadable.",
    "{name} once paid for a {thing} that was never used; the sum of {n} units is settled.",
    "The {place2} is out of reach for {name} after {hour}.",
    "Reference {ref} belongs to a group that shares one {paper}.",
    "{name} asked about the {thing2} in spring and was told to come back.",
)

TOOL_VERBS = (
    ("find", "Look up a {thing} by its reference or by the name on the {paper}. Returns at most {n} matches."),
    ("list", "List what is planned at the {place}, oldest first. An empty list is an answer, not an error."),
    ("change", "Change one field of a {thing}. Fails with a short code when the {paper} is already closed."),
    ("close", "Close the case of a {thing} with a reason. It cannot be opened again by the assistant."),
    ("message", "Leave a note for the {staff} at the {place}. Notes are read within {n} hours."),
    ("price", "Work out what a {thing} costs on a given day, fees and reductions included."),
    ("count", "Say how many of a {thing} are free at the {place} between two days."),
    ("print", "Queue a {paper} for printing at the {place}. Use it once per case."),
    ("fee", "Show open fees of a person, with the day and the {paper} that each belongs to."),
    ("move", "Move a {thing} to another place. The {staff} is told automatically."),
)

FIELDS = (
    ("reference", "string", "Reference as printed on the {paper}."),
    ("day", "string", "Day in the form that the {place} uses."),
    ("limit", "integer", "How many results to return at most."),
    ("reason", "string", "Why it is done, in a few words, for the log of the {staff}."),
    ("place", "string", "Where it happens, such as the {place}."),
    ("amount", "number", "Sum in units, without tax."),
    ("urgent", "boolean", "Whether the {staff} should be called at once."),
    ("person", "string", "Name as it stands on the {paper}."),
)

FIRST = _words(
    "Ada, Bram, Cleo, Dag, Edda, Falk, Gitta, Hugo, Ines, Jarl, Katja, Lorenz, Mira, Nils, Oda, Pavel, Runa, Stellan, "
    "Tilda, Ulf, Vera, Wanda, Yara, Zeno, Ambra, Bodil, Cosmo, Delia, Emil, Freya"
)
LAST = _words(
    "Achterberg, Brandvold, Castellan, Dunmore, Eklund, Farrow, Grasmere, Hollander, Ivarsson, Jessen, Kettle, "
    "Lindqvist, Marchetti, Norling, Okonjo, Pettifer, Quayle, Rosewall, Sandoval, Thackray, Underhill, Varga, Whitlow"
)
DAYS = _words("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday")
