#!/usr/bin/python3
"""Alice, carol, and another client of bob's, the laptop, send bob what other programs send, in random order and mixture, and know what
bob's conversations are then.

odd.py PORT CA SEED

The accounts are alice, bob and carol at localhost; the passwords come from PEER_PASSWORD. In the room den are alice, carol, and bob on the
laptop under the nickname that his other client has, too; in the room apart are only carol and the laptop. Whoever hears a text "own N" of bob's
sends errors, receipts and markers. Each line of standard input is a command, answered with a line of JSON once the server has taken
everything: "send N" sends N messages; "end" sends the last line of each way, whose names are in "ends"; "lines" tells what has to be a line:
{"name", "conversation", "direction", "text", "file", "count" ([1], or [0, 1]), "states", "retracted"}, where a line's name is in
its text, the name of its file, or its origin-id. "quit" ends the program. Loopback only.
"""
import asyncio
import json
import os
import random
import re
import sys
from xml.sax.saxutils import escape

import slixmpp

port, authority, seed = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
dice = random.Random(seed)
ALICE, BOB, DEN, APART = "alice@localhost", "bob@localhost", "den@conference.localhost", "apart@conference.localhost"
USER = "http://jabber.org/protocol/muc#user"
MARK = "<x xmlns='%s'/>" % USER
STATES = "http://jabber.org/protocol/chatstates"
STORE = "<store xmlns='urn:xmpp:hints'/>"
WORDS = ["at five", "🎉 done", "e\u0301te\u0301 ", "機能", "a < b & c", "שלום", "👩‍👩‍👧 ", "\n> no quote\n", "  two  spaces ", "x"]
# How often one of the ways is taken; who sends on it, and in which conversation of bob's it is.
WAYS = {
    "chat": (4, "alice", "in", ALICE, BOB), "carbon": (2, "alice", "in", ALICE, BOB + "/laptop"),
    "sent": (3, "laptop", "out", ALICE, ALICE), "note": (3, "laptop", "out", BOB, BOB),
    "room": (3, "alice", "in", DEN, DEN), "room too": (1, "carol", "in", DEN, DEN), "room sent": (2, "laptop", "out", DEN, DEN),
    "private": (2, "carol", "in", DEN + "/carol", DEN + "/bob"), "private sent": (2, "laptop", "out", DEN + "/carol", DEN + "/carol"),
    "apart": (1, "carol", "in", APART + "/carol", APART + "/bobby"), "apart sent": (2, "laptop", "out", APART + "/carol", APART + "/carol"),
}
# Copies of what another client of the account's gets in a room are the server's choice (XEP-0280 section 6.1).
CHOICE = {"apart"}
# Prosody 13 copies no private message of a room: the next reading of the archive shows it.
ARCHIVED = {"private sent", "apart sent"}
people, lines, written, count = {}, {}, [], 0


def fallback(namespace, ranges):
    return "<fallback xmlns='urn:xmpp:fallback:0' for='%s'>%s</fallback>" % (namespace, "".join(ranges))


def element(name, text, more=""):
    return "<%s%s>%s</%s>" % (name, more, escape(text), name)


def words(name):
    return "".join(dice.choice(WORDS) for _ in range(dice.randrange(3))) + name + dice.choice(WORDS)


def url(name):
    return "https://files.example.net/%s.jpg" % name


def oob(address):
    return "<x xmlns='jabber:x:oob'><url>%s</url></x>" % address


def sharing(name):
    return ("<file-sharing xmlns='urn:xmpp:sfs:0' disposition='inline'><file xmlns='urn:xmpp:file:metadata:0'><media-type>image/jpeg"
            "</media-type><name>%s.jpg</name><size>17</size></file><sources><url-data xmlns='http://jabber.org/protocol/url-data' "
            "target='%s'/></sources></file-sharing>" % (name, url(name)))


def parts(name, namespace):
    """A text with parts that are for others: ranges unordered, overlapping, beyond the end, in several elements (XEP-0428).
    Returns the content, and the rest of the text."""
    pieces = [("> quote " + dice.choice(WORDS) + "\n", True), (words(name), False)]
    for _ in range(dice.randrange(3)):
        pieces.insert(dice.randrange(len(pieces) + 1), (dice.choice(["[mark] ", "> ü🎉\n"]), True))
        pieces.insert(dice.randrange(len(pieces) + 1), (words(""), False))
    body, ranges = "", []
    for index, (text, is_hidden) in enumerate(pieces):
        start, end = len(body), len(body) + len(text)
        body += text
        if not is_hidden:
            continue
        first = " start='%d'" % start if start or dice.random() < 0.5 else ""
        last = dice.choice([" end='%d'" % (end + 4000), ""]) if index == len(pieces) - 1 else " end='%d'" % end
        if dice.random() < 0.3:
            middle = dice.randrange(start, end)
            ranges += ["<body%s end='%d'/>" % (first, dice.randrange(middle, end + 1)), "<body start='%d'%s/>" % (middle, last)]
        else:
            ranges.append("<body%s%s/>" % (first, last))
    dice.shuffle(ranges)
    cut = dice.randrange(1, len(ranges) + 1)
    elements = [fallback(namespace, some) for some in (ranges[:cut], ranges[cut:]) if some]
    elements.append(fallback("urn:example:other", ["<body/>"]))
    dice.shuffle(elements)
    return element("body", body) + "".join(elements), "".join(text for text, is_hidden in pieces if not is_hidden)


def content(name, is_room):
    """Something that is a line: its content, its text, and whether it is a file."""
    text = words(name)
    body = element("body", text)
    kind = dice.randrange(12)
    if kind == 0:
        rest, text = parts(name, "urn:xmpp:reply:0")
        return rest + "<reply xmlns='urn:xmpp:reply:0' id='%s'/>" % dice.choice(written or ["x"]), text, False
    if kind == 1:
        return oob(url(name)), None, True
    if kind == 2:
        return element("body", url(name)) + oob(url(name)), url(name), True
    if kind == 3:
        return sharing(name) + dice.choice(["", "<body/>"]), None, True
    if kind == 4:
        return body + sharing(name) + fallback("urn:xmpp:sfs:0", dice.choice([[], ["<body/>"]])), None, True
    if kind == 5:
        return body + element("subject", "Lunch"), text if is_room else "Lunch\n" + text, False
    if kind == 6 and not is_room:
        return element("subject", text), text, False
    if kind == 7:
        return element("body", "autre", " xml:lang='fr'") + body, text, False
    if kind == 8:
        return body + "<active xmlns='%s'/><markable xmlns='urn:xmpp:chat-markers:0'/><request xmlns='urn:xmpp:receipts'/>" % STATES, text, False
    return body, text, False


def nothing(way):
    """Something that is no line."""
    error = "<error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>"
    forged = ("<%s xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'><message xmlns='jabber:client' from='bob@localhost/x' "
              "to='carol@localhost' type='chat'><body>forged</body></message></forwarded></%s>")
    all = [
        "<body/><composing xmlns='%s'/>" % STATES, "<body/>", "<subject/><body/>", "<paused xmlns='%s'/>" % STATES, "<thread>t</thread>", "",
        "<body/><received xmlns='urn:xmpp:receipts' id='unknown'/>", "<body/><replace xmlns='urn:xmpp:message-correct:0' id='unknown'/>",
        "<body>seen</body><displayed xmlns='urn:xmpp:chat-markers:0' id='unknown'/>" + fallback("urn:xmpp:chat-markers:0", []),
        "<body>👍</body><reactions xmlns='urn:xmpp:reactions:0' id='unknown'><reaction>👍</reaction></reactions>",
        "<body>gone</body><retract xmlns='urn:xmpp:message-retract:1' id='unknown'/>" + fallback("urn:xmpp:message-retract:1", []),
        "<accept xmlns='urn:xmpp:jingle-message:0' id='c'/>", forged % ("received", "received"), forged % ("sent", "sent"),
        "<x xmlns='jabber:x:oob'><url/></x>", "<event xmlns='http://jabber.org/protocol/pubsub#event'><items node='odd'/></event>",
    ]
    return dice.choice(all) + STORE * (dice.random() < 0.5)


def send(way, inner, kind=None, id=None, name=None):
    _, who, _, _, to = WAYS[way]
    kind = kind or ("groupchat" if to == DEN else "chat")
    mark = MARK if way in ("private sent", "apart sent") else ""
    number = " id='%s'" % id if id else ""
    stanza = "<message to='%s' type='%s'%s>%s%s</message>" % (to, kind, number, inner, mark)
    if name:
        lines[name]["sent"].append(stanza)
    people[who].send_raw(stanza)


def origin(name):
    return "<origin-id xmlns='urn:xmpp:sid:0' id='%s'/>" % name


def line(way):
    """A new line; sometimes it has no id, or one that was used before."""
    global count
    count += 1
    name = "t%dz" % count
    _, _, direction, conversation, to = WAYS[way]
    inner, text, is_file = content(name, to == DEN)
    lines[name] = {
        "name": name, "conversation": conversation, "direction": direction, "text": text, "file": is_file,
        "count": [0, 1] if way in CHOICE else [1], "states": None, "retracted": False, "way": way, "sent": []}
    id, extra = name, origin(name)
    if way in ("chat", "carbon", "room", "room too") and dice.random() < 0.2:
        id, extra = dice.choice([None, "again"]), ""
    elif not way.startswith(("private", "apart")) and dice.random() < 0.3:
        extra = ""
    if "<body>" not in inner:
        extra += STORE  # Else servers may neither archive nor copy it.
    kind = "normal" if to != DEN and "/" not in to and "<body>" in inner and dice.random() < 0.1 else None
    if id == name:
        written.append(name)
        lines[name]["id"] = extra.startswith("<origin-id")
    send(way, inner + extra, kind, id, name)


def change(way):
    """A correction or a retraction of an earlier line."""
    names = [name for name in written if lines[name]["way"] == way and not lines[name]["retracted"] and not lines[name]["file"]]
    # Of a private message nobody can prove later who has written it.
    if not names or way in CHOICE or way == "private":
        return line(way)
    known = lines[dice.choice(names[-5:])]
    if known["id"] and dice.random() < 0.3:
        known.update(retracted=True, text=None)
        retraction = "<retract xmlns='urn:xmpp:message-retract:1' id='%s'/>" % known["name"]
        return send(way, element("body", "(gone)") + retraction + fallback("urn:xmpp:message-retract:1", []) + STORE, id="r" + known["name"], name=known["name"])
    global count
    count += 1
    inner, known["text"] = parts(known["name"], "urn:xmpp:message-correct:0")
    send(way, inner + "<replace xmlns='urn:xmpp:message-correct:0' id='%s'/>" % known["name"] + origin("c%d" % count), id="c%d" % count, name=known["name"])


def answered(who, message):
    """Errors and evidence of arrival, in any order, for what bob has said."""
    body, id, sender = message["body"], message["id"], str(message["from"])
    if not id or not body or message["type"] not in ("chat", "groupchat", "normal"):
        return
    condition = "recipient-unavailable" if message["type"] == "chat" else dice.choice(["forbidden", "not-acceptable"])
    error = ("<message type='error' to='%s' id='%s'><error type='cancel'><%s xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>"
             % (sender, id, condition))
    if message["type"] == "groupchat":
        if who == "carol" and sender == DEN + "/bob" and body.startswith("own "):
            people[who].send_raw(error)
    elif who == "alice" and sender.startswith(BOB):
        evidence = ["<received xmlns='urn:xmpp:receipts' id='%s'/>" % id, "<displayed xmlns='urn:xmpp:chat-markers:0' id='%s'/>" % id]
        stanzas = ["<message type='chat' to='%s' id='e%s'>%s%s</message>" % (sender, id, one, STORE) for one in evidence]
        some = dice.sample(stanzas, dice.randrange(1, 3)) + [error] * dice.randrange(3)
        dice.shuffle(some)
        people[who].send_raw("".join(some))
        name = re.search("t[0-9]+z", body)
        if name and name[0] in lines:
            lines[name[0]]["states"] = ["acked", "delivered", "displayed"]


async def barrier():
    for client in people.values():
        ping = client.make_iq_get(ito="localhost")
        ping.append(slixmpp.xmlstream.ET.Element("{urn:xmpp:ping}ping"))
        await ping.send(timeout=120)


async def enter(who, room, nick):
    client = people[who]
    entered = asyncio.get_running_loop().create_future()

    def came(presence):
        is_own = any(status.get("code") == "110" for status in presence.xml.iter("{%s}status" % USER))
        if str(presence["from"]) == room + "/" + nick and is_own and not entered.done():
            entered.set_result(None)

    client.add_event_handler("presence_available", came)
    client.send_raw("<presence to='%s/%s'><x xmlns='http://jabber.org/protocol/muc'><history maxstanzas='0'/></x></presence>" % (room, nick))
    await entered


async def begin():
    loop = asyncio.get_running_loop()
    for who, jid in (("alice", ALICE), ("carol", "carol@localhost"), ("laptop", BOB + "/laptop")):
        client = people[who] = slixmpp.ClientXMPP(jid, os.environ.get("PEER_PASSWORD", ""))
        client.ca_certs = authority
        started = loop.create_future()
        client.add_event_handler("session_start", lambda _, started=started: started.set_result(None))
        client.add_event_handler("message", lambda message, who=who: answered(who, message))
        client.connect(("127.0.0.1", port))
        await started
        client.send_presence()
    for who, room, nick in (("alice", DEN, "alice"), ("carol", APART, "carol"), ("carol", DEN, "carol"), ("laptop", DEN, "bob"), ("laptop", APART, "bobby")):
        await enter(who, room, nick)
        if (who, room) in (("alice", DEN), ("carol", APART)):
            form = people[who].make_iq_set(ito=room)
            form.append(slixmpp.xmlstream.ET.fromstring(
                "<query xmlns='http://jabber.org/protocol/muc#owner'><x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE'>"
                "<value>http://jabber.org/protocol/muc#roomconfig</value></field><field var='muc#roomconfig_whois'><value>anyone"
                "</value></field></x></query>"))
            await form.send(timeout=120)
    await barrier()


async def main():
    loop = asyncio.get_running_loop()
    await begin()
    say = lambda **fields: print(json.dumps(fields), flush=True)
    say(name="ready")
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    names, weights = list(WAYS), [way[0] for way in WAYS.values()]
    while (command := (await reader.readline()).decode().split()) not in ([], ["quit"]):
        if command[0] == "send":
            for _ in range(int(command[1])):
                way = dice.choices(names, weights)[0]
                dice.choices([line, change, lambda way: send(way, nothing(way))], [6, 2, 2])[0](way)
                await asyncio.sleep(0)
            await barrier()
            say(name="sent")
        elif command[0] == "end":
            before = set(lines)
            for way in WAYS:
                line(way)
            await barrier()
            say(name="end", ends=[name for name in lines if name not in before and lines[name]["way"] not in CHOICE | ARCHIVED])
        elif command[0] == "lines":
            say(name="lines", lines=list(lines.values()))
    for client in people.values():
        client.abort()


asyncio.get_event_loop().run_until_complete(main())
