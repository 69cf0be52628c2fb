"""What is said in the workload. All of it is made up; names of firms, places and people are invented."""

from __future__ import annotations

from typing import Any

_FRAMES = ("Heron", "Lapwing", "Curlew", "Dunlin", "Plover", "Avocet", "Godwit", "Turnstone")
_RULES = (
    "Greet once, in the customer's language, and never again in the same conversation.",
    "Quote a price only from the list below; a part that is not listed is priced by the workshop.",
    "A frame that has been welded by somebody else is outside the guarantee, whatever the receipt says.",
    "Give torque in newton metres, lengths in millimetres and weights in kilograms.",
    "When a brake is concerned, say first that the bicycle must not be ridden until it has been looked at.",
    "A refund over 150 needs a colleague: say so and hand the conversation over.",
    "Serial numbers stand under the bottom bracket and have two letters and five digits.",
    "Do not guess a delivery date. The depot names one within a working day.",
    "If two answers are possible, name both and what decides between them.",
    "Bearings of series K were recalled; ask for the series before giving advice on a rattle.",
)


def _desk() -> str:
    lines = ["You answer for the service desk of a maker of cargo bicycles.", ""]
    lines += [f"{n}. {rule}" for n, rule in enumerate(_RULES, 1)]
    lines += ["", "Frames and what the workshop needs to know of them:"]
    for n, name in enumerate(_FRAMES):
        load, length, torque = 80 + 15 * n, 1_910 + 45 * n, 24 + 2 * (n % 4)
        lines.append(
            f"- {name}: carries {load} kg, is {length} mm long, stem bolts {torque} Nm, axle nuts {torque + 14} Nm; "
            f"spare belt QB-{300 + 7 * n}, pads of compound {'AB'[n % 2]}, service every {1_500 + 250 * n} km."
        )
    lines += ["", "Parts and prices:"]
    for n in range(46):
        lines.append(f"- part {'ABCDEFGHKL'[n % 10]}{410 + 13 * n}: {12 + 3.5 * n:.2f}, in stock at depot {1 + n % 5}.")
    lines += ["", "End every answer with what the customer should do next."]
    return "\n".join(lines)


DESK = _desk()
NIGHT = "You write the log of a freight yard's night shift. Keep each entry under three sentences and name the gate."
DISPATCH = (
    "You plan lorries for a freight yard. Read the open orders before you plan, check the stock of what is to be "
    "loaded, and ask the helper about roads. Book a truck only when you have been told to, and say which road it takes."
)
HELPER = "You know the roads around the yard. Look at the state of a road before you answer; answer in one sentence."


def numbered(question: str, number: int) -> str:
    """Return the question as it is asked in a round: later rounds are about other cases."""
    return f"{question} (case {4_000 + number})" if number else question


FRAMES = (
    ("My Heron creaks when I stand on the pedals. What should I look at?",
     "Check the axle nuts first: they need 38 Nm. If they hold, look at the stem bolts. Send us a photo of the rear."),
    ("The nuts were loose, I tightened them. Now the belt jumps under load.",
     "A belt that jumps is worn or slack. Measure its tension and tell me the number of teeth that show polish."),
    ("About nine teeth shine on one side.",
     "Then the belt is worn. The spare is QB-300; order it and ride without load until it has arrived."),
    ("Can I fit it myself?",
     "Yes, if you have a frame splitter key. The frame opens at the seat stay; close it with 24 Nm. Check the line."),
    ("And the price?",
     "The belt is not on my list, so the workshop prices it. Ask them for QB-300 and give them your serial number."),
)  # fmt: skip
NORDIC = (
    ("Hej! Min Lapwing skramlar över kullersten – är det lagret?",
     "Hej! Det kan vara ett lager av serie K. Läs serien på navet och skicka den till mig, så vet vi säkert."),
    ("Det står «K-2207» på navet. 🚲",
     "Då är det återkallat. Cykla inte mer på den: byt lagret hos närmaste depå, det kostar ingenting."),
    ("Närmaste depå ligger i Åmål. Har ni något närmare — kanske 東京 nästa månad? Jag flyttar.",
     "Depå 3 i Tokyo (東京) byter det också. Boka tid före flytten och ta med serienumret."),
    ("Tack! ✓",
     "Varsågod. Skriv till oss när lagret är bytt, så stänger vi ärendet."),
)  # fmt: skip
BRAKES = (
    ("Our Curlew's front brake lever goes down to the grip.",
     "Please do not ride it until it has been looked at. Is there oil near the calliper, or is the lever just soft?"),
    ("There is oil on the pads.",
     "Then pads and seal have to be replaced: compound A. Depot 2 has both. Bring the bicycle there on a trailer."),
    ("They say compound B is fitted.",
     "A Curlew takes A. Ask them to fit A and to note the change under the serial number. Call me if they refuse."),
    ("Done. How long until the next service?",
     "Every 2000 km for a Curlew; with a new seal come once after 200 km. Book that visit today."),
)  # fmt: skip
SHIFT = (
    ("Gate 4: lorry with two loose straps, driver told to stop.",
     "Gate 4: a lorry came in with two loose straps. The driver was stopped and has to lash again."),
    ("Same lorry, straps done, left 02:40.",
     "Gate 4: the lorry was lashed again and left at 02:40."),
    ("Summarise the shift so far.",
     "One event at gate 4: loose straps, put right, lorry left at 02:40. Gates 1 to 3 were quiet."),
)  # fmt: skip
AGENT_TASK = "Order 7714 has to be at Hollow Wharf by morning. Plan it."
ORDERS = '{"orders":[{"id":"7714","sku":"QF-310","pallets":11},{"id":"7719","sku":"QF-122","pallets":2}]}'
STOCK = '{"sku":"QF-310","pallets":14,"bay":"C"}'
ROAD = "B 51: open. Tunnel: closed from 20:00 to 06:00 for washing."
HELPER_ANSWER = "The tunnel is closed tonight, so the lorry has to take the B 51."
AGENT_PLAN = "Eleven pallets are in bay C. Truck T-09 can take them over the B 51 at 20:15. Shall I book it?"
BOOKED = '{"booked":true,"truck":"T-09","leaves":"20:15"}'
_TEXT: dict[str, Any] = {"type": "string"}


def _schema(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


TOOLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("list_orders", "Open orders of a depot.", _schema(["depot"], depot=_TEXT, due=_TEXT)),
    ("stock_level", "Pallets of a stock number that are in the yard.", _schema(["sku"], sku=_TEXT)),
    ("road_state", "Whether the roads between two places are open.",
     _schema(["start", "goal"], start=_TEXT, goal=_TEXT, hours={"type": "array", "items": {"type": "integer"}})),
    ("book_truck", "Book a truck for an order.",
     _schema(["order", "truck"], order=_TEXT, truck=_TEXT, note=_TEXT)),
    ("ask_helper", "Ask the helper who knows the roads.", _schema(["task"], task=_TEXT)),
)  # fmt: skip
