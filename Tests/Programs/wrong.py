#!/usr/bin/python3
"""A hostile XMPP server: lets juliet@localhost log in, and answers what her client asks wrongly. Direct TLS on loopback.

  wrong.py --port N --cert FILE --key FILE [--seed N] [--pushes N | --seconds N]

For each stretch of some provocations the seed chooses one or two kinds of requests and a wrong answer to each (an error, nothing, an
empty result, another namespace, another id or sender, twice, other content than was written); all else gets its right answer, because a
client asks again only while the rest is well. In some stretches everything gets a wrong answer, or any. The first stretches have what
has made clients ask without end. Between, the server provokes requests: events that repeat, lists that differ from what was written, changes of rooms, pushes of the
roster, presences with unknown hashes, requests of all kinds, and connections that end. It never has more than a few provocations
unacknowledged.

Prints "ready"; then, after so many provocations or seconds, a line of JSON each time that standard input has a line: the counts.
  kinds       requests and other stanzas of the client's by kind
  sent        stanzas for the client; `results` of them are results of archives, and `asked` are requests and messages
  sessions    new ones; `resumed` has the others, `connections` all connections
  bytes       from the client, inside of TLS
  provoked    provocations so far; `done` whether all are through
  seconds     since the first session
"""
import argparse, base64, collections, json, os, random, re, select, socket, ssl, sys, threading, time
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

STREAM, CLIENT, SM = "http://etherx.jabber.org/streams", "jabber:client", "urn:xmpp:sm:3"
HEADER = (f"<?xml version='1.0'?><stream:stream xmlns='{CLIENT}' xmlns:stream='{STREAM}' from='localhost' id='wrong' version='1.0'>"
          "<stream:features>%s</stream:features>")
SASL = "<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism></mechanisms>"
BIND = f"<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/><sm xmlns='{SM}'/>"
ME, FULL = "juliet@localhost", "juliet@localhost/wrong"
INFO, ITEMS = "http://jabber.org/protocol/disco#info", "http://jabber.org/protocol/disco#items"
PUBSUB, EVENT = "http://jabber.org/protocol/pubsub", "http://jabber.org/protocol/pubsub#event"
MUC, MAM, PING = "http://jabber.org/protocol/muc", "urn:xmpp:mam:2", "urn:xmpp:ping"
BOOKMARKS, DISPLAYED, OMEMO = "urn:xmpp:bookmarks:1", "urn:xmpp:mds:displayed:0", "eu.siacs.conversations.axolotl"
CONTACTS, ROOMS = 8, 4
# Between two provocations, in seconds.
PAUSE = 0.02
CONDITIONS = [("item-not-found", "cancel"), ("conflict", "cancel"), ("not-acceptable", "modify"), ("forbidden", "auth"),
              ("internal-server-error", "wait"), ("resource-constraint", "wait"), ("service-unavailable", "cancel"),
              ("feature-not-implemented", "cancel"), ("not-allowed", "cancel"), ("remote-server-timeout", "wait"),
              ("precondition-not-met", "cancel"), ("bogus", "cancel")]
HOWS = ["differs", "differs", "error", "not-acceptable", "empty", "namespace", "id", "sender", "twice", "silence", "any"]
# Kinds that get a wrong answer together.
VICTIMS = ["own items bookmarks", "publish bookmarks", "ping urn:xmpp:ping room", "info room", "presence room", "archive query own",
           "archive query room", "items list", "items bundle", "own items list", "own items bundle", "publish list", "publish bundle",
           "own items displayed", "publish displayed", "query jabber:iq:roster", "info localhost", "info own", "info entity",
           "message room", "query http://jabber.org/protocol/muc#admin room", "enable urn:xmpp:carbons:2"]
FIRST = [("own items bookmarks", "differs"), ("ping urn:xmpp:ping room", "not-acceptable"), ("own items list", "differs"),
         ("archive query own", "differs"), ("archive query room", "differs"), ("publish displayed", "differs"),
         ("own items bundle", "differs"), ("message room", "empty"), ("items bundle", "differs")]
STRETCH = 25
FEATURES = {
    "localhost": ("server", "im", ["urn:xmpp:carbons:2", "urn:xmpp:blocking", "urn:xmpp:http:upload:0", ITEMS, "urn:xmpp:push:0",
                                   MAM, PING, "urn:xmpp:time"]),
    ME: ("pubsub", "pep", [MAM, MAM + "#extended", "urn:xmpp:sid:0", "urn:xmpp:push:0", BOOKMARKS + "#compat", PUBSUB + "#publish",
                           PUBSUB + "#publish-options", PUBSUB + "#persistent-items", PUBSUB + "#multi-items",
                           PUBSUB + "#config-node-max", PUBSUB + "#auto-create", PUBSUB + "#retrieve-items"]),
    None: ("conference", "text", [MUC, "muc_membersonly", "muc_nonanonymous", "muc_persistent", MAM, "urn:xmpp:sid:0",
                                  "http://jabber.org/protocol/muc#self-ping-optimization"]),
}
TAGS = re.compile(r"\{([^}]*)\}(.*)")

parser = argparse.ArgumentParser()
for name in ("port", "seed", "pushes", "seconds"):
    parser.add_argument("--" + name, type=int, default=0)
for name in ("cert", "key"):
    parser.add_argument("--" + name, required=True)
options = parser.parse_args()
chance = random.Random(options.seed)


class Closed(Exception):
    pass


def tag(element):
    match = TAGS.match(element.tag)
    return match.groups() if match else ("", element.tag)


class Book:
    """The counts, and what the server keeps."""

    def __init__(self):
        self.kinds, self.first, self.begun = collections.Counter(), {}, None
        self.sent = self.results = self.asked = self.sessions = self.resumed = self.connections = self.bytes = self.provoked = 0
        # Items that the client has published; the stanzas of the client's that were taken in the session.
        self.items, self.up, self.serial = {}, 0, 0
        # Which answers are wrong at present, and for how many more provocations; "" is for all others.
        self.moods, self.left, self.stretches = {}, STRETCH, chance.sample(FIRST, len(FIRST))

    def done(self):
        if self.begun is None:
            return False
        return self.provoked >= options.pushes if options.pushes else time.monotonic() - self.begun >= options.seconds

    def say(self):
        seconds = time.monotonic() - self.begun if self.begun else 0
        print(json.dumps({
            "kinds": self.kinds, "first": self.first, "sent": self.sent, "results": self.results, "asked": self.asked,
            "sessions": self.sessions, "resumed": self.resumed, "connections": self.connections, "bytes": self.bytes,
            "provoked": self.provoked, "done": self.done(), "seconds": round(seconds, 1)}), flush=True)


    def change_mood(self):
        self.left = STRETCH
        if self.stretches:
            self.moods = dict([self.stretches.pop()])
        elif chance.random() < 0.2:
            self.moods = {"": chance.choice(HOWS)}
        else:
            self.moods = {victim: chance.choice(HOWS) for victim in chance.sample(VICTIMS, chance.choice([1, 1, 2]))}


book = Book()


def room(number=None):
    return f"r{chance.randrange(ROOMS) if number is None else number}@rooms.localhost"


def contact():
    return f"c{chance.randrange(CONTACTS)}@localhost"


def name(text="n"):
    book.serial += 1
    return f"{text}{book.serial}"


def kind(stanza):
    """What a stanza of the client's is, by the handlers' names where there are any."""
    _, what = tag(stanza)
    if what != "iq":
        to = stanza.get("to", "")
        if what == "presence":
            return f"presence {'room' if '@rooms.' in to else stanza.get('type', 'own')}"
        content = [tag(child)[1] for child in stanza]
        return "message room" if "@rooms." in to else "message receipt" if "received" in content else "message"
    if stanza.get("type") not in ("get", "set"):
        return "answer"
    child = next(iter(stanza), None)
    space, word = tag(child) if child is not None else ("", "")
    to, node = stanza.get("to", ""), child.get("node", "") if child is not None else ""
    if space.startswith(PUBSUB):
        verb = next(iter(child), None)
        word, node = (tag(verb)[1], verb.get("node", "")) if verb is not None else ("", "")
        short = "bookmarks" if node == BOOKMARKS else "displayed" if node == DISPLAYED else "list" if node.endswith("list") \
            else "bundle" if "bundles" in node else node
        if word == "items" and to in ("", ME):
            return f"own items {short}"
        return f"{'owner ' if space.endswith('owner') else ''}{word} {short}"
    if space == MAM:
        return f"archive {word} {'room' if '@rooms.' in to else 'own'}"
    if space == INFO:
        return f"info {'room' if '@rooms.' in to else to if to in ('localhost', ME) else 'own' if not to else 'entity'}"
    return f"{word} {space}{' room' if '@rooms.' in to else ''}"


class Link:
    """A connection."""

    def __init__(self, connection):
        self.connection, self.parser, self.depth = connection, None, 0
        self.handled = self.known = self.provoked = 0
        # Most sessions are long enough for a client to begin anew with its pauses.
        self.closes = time.monotonic() + chance.choice([0.5, 11, 12, 15, 30, 60])
        self.restart()

    def restart(self):
        self.parser, self.depth = ElementTree.XMLPullParser(["start", "end"]), 0

    def send(self, text, count=1):
        book.sent += count
        self.known += count
        self.raw(text)

    def raw(self, text):
        self.connection.settimeout(60)
        self.connection.sendall(text.encode())

    def elements(self, seconds):
        """The elements that come within so many seconds, until some have come."""
        if not self.connection.pending() and not select.select([self.connection], [], [], seconds)[0]:
            return []
        data = self.connection.recv(65536)
        if not data:
            raise Closed
        book.bytes += len(data)
        self.parser.feed(data)
        found = []
        for event, element in self.parser.read_events():
            self.depth += 1 if event == "start" else -1
            if event == "start" and self.depth == 1:
                found.append(element)
                self.header = element
            elif event == "end" and self.depth == 1:
                found.append(element)
            elif event == "end" and self.depth == 0:
                raise Closed
        return found

    def next(self):
        while True:
            found = self.elements(300)
            if found:
                return found

    # The login

    def login(self):
        authenticated = False
        while True:
            for element in self.next():
                space, what = tag(element)
                if what == "stream":
                    self.raw(HEADER % (BIND if authenticated else SASL))
                elif what == "auth":
                    authenticated = True
                    self.raw("<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>")
                    self.restart()
                elif what == "resume":
                    if chance.random() < 0.6:
                        self.handled, self.known = book.up, int(element.get("h"))
                        self.raw(f"<resumed xmlns='{SM}' previd='wrong' h='{book.up}'/>")
                        book.resumed += 1
                        return
                    self.raw(f"<failed xmlns='{SM}'><item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></failed>")
                elif what == "iq":
                    self.raw(f"<iq type='result' id={quoteattr(element.get('id'))}><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                             f"<jid>{FULL}</jid></bind></iq>")
                elif what == "enable":
                    self.raw(f"<enabled xmlns='{SM}' id='wrong' resume='true'/>")
                    book.sessions += 1
                    return

    # The session

    def run(self):
        self.login()
        book.begun = book.begun or time.monotonic()
        acknowledged, unanswered = self.known, 0
        while True:
            for element in self.elements(PAUSE):
                space, what = tag(element)
                if what == "r":
                    self.raw(f"<a xmlns='{SM}' h='{self.handled}'/>")
                elif what == "a":
                    acknowledged = int(element.get("h"))
                elif what in ("iq", "message", "presence"):
                    self.handled += 1
                    book.up = self.handled
                    self.take(element)
            if book.done():
                continue
            # A server that cuts a connection says what it had taken; nothing else is wrong with its counting.
            if self.known - acknowledged > 60:
                unanswered += 1
                if unanswered % 50 == 1:
                    self.raw(f"<r xmlns='{SM}'/>")
                continue
            unanswered = 0
            if time.monotonic() > self.provoked + PAUSE:
                self.provoked = time.monotonic()
                self.provoke()
                self.raw(f"<r xmlns='{SM}'/>")
            if time.monotonic() > self.closes:
                raise Closed

    def take(self, stanza):
        what = kind(stanza)
        book.kinds[what] += 1
        book.first.setdefault(what, ElementTree.tostring(stanza, encoding="unicode")[:400])
        if stanza.tag == f"{{{CLIENT}}}iq":
            if stanza.get("type") in ("get", "set"):
                self.answer(stanza)
        elif stanza.tag == f"{{{CLIENT}}}presence" and "@rooms." in stanza.get("to", "") and not stanza.get("type"):
            self.enter(stanza)
        elif what == "message room" and self.wrong(what) in ("right", "twice"):
            self.reflect(stanza)

    @staticmethod
    def wrong(what):
        """How the next request of a kind is answered."""
        mood = book.moods.get(what) or book.moods.get("", "right")
        return chance.choice(HOWS[:-1]) if mood == "any" else mood

    def answer(self, request):
        how, sender = self.wrong(kind(request)), request.get("to")
        identifier = quoteattr(request.get("id"))
        source = f" from={quoteattr(sender)}" if sender else ""
        if how == "silence":
            return
        if how in ("error", "not-acceptable"):
            condition, sort = chance.choice(CONDITIONS) if how == "error" else ("not-acceptable", "modify")
            return self.send(f"<iq type='error' id={identifier}{source}><error type='{sort}'><{condition} "
                             "xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>")
        if how == "empty":
            return self.send(f"<iq type='result' id={identifier}{source}/>")
        if how == "namespace":
            return self.send(f"<iq type='result' id={identifier}{source}><query xmlns='urn:example:wrong'><item/></query></iq>")
        if how == "id":
            identifier = f"'{name()}'"
        if how == "sender":
            source = f" from='{contact()}/x'"
        content = self.content(request, how == "differs")
        for _ in range(2 if how == "twice" else 1):
            self.send(f"<iq type='result' id={identifier}{source}>{content}</iq>")

    # What a right answer has, or one that differs from what is there

    def content(self, request, differs):
        child = next(iter(request), None)
        if child is None:
            return ""
        space, word = tag(child)
        to = request.get("to") or ME
        if space == INFO:
            category, sort, features = FEATURES.get(to) or FEATURES[None]
            if differs:
                features = chance.sample(features, len(features) // 2) + [name("urn:example:")]
            node = f" node={quoteattr(child.get('node'))}" if child.get("node") else ""
            return f"<query xmlns='{INFO}'{node}><identity category='{category}' type='{sort}'/>" + "".join(
                f"<feature var='{feature}'/>" for feature in features) + "</query>"
        if space == ITEMS:
            return f"<query xmlns='{ITEMS}'>" + "".join(f"<item jid='s{n}.localhost'/>" for n in range(30)) + "</query>"
        if space == "jabber:iq:roster" and request.get("type") == "get":
            return f"<query xmlns='{space}' ver='{name()}'>{self.contacts(differs)}</query>"
        if space == MAM and word == "query":
            return self.page(request, child, differs)
        if space == MAM:
            return f"<prefs xmlns='{MAM}' default='{chance.choice(['always', 'never', 'roster'])}'/>"
        if space.startswith(PUBSUB):
            return self.node(request, child, differs)
        if space == "http://jabber.org/protocol/muc#admin":
            return f"<query xmlns='{space}'>" + "".join(
                f"<item affiliation='member' jid='c{n}@localhost'/>" for n in range(CONTACTS)) + "</query>"
        if space == "urn:xmpp:http:upload:0":
            return f"<slot xmlns='{space}'><put url='https://localhost:1/x'/><get url='https://localhost:1/x'/></slot>"
        return f"<{word} xmlns='{space}'/>"

    @staticmethod
    def contacts(differs):
        return "".join(f"<item jid='c{number}@localhost' subscription='{chance.choice(['both', 'none', 'to']) if differs else 'both'}'/>"
                       for number in range(CONTACTS))

    def page(self, request, query, differs):
        """A page of an archive. One that differs repeats messages, or shows none, and names a later page."""
        to, identifier = request.get("to") or ME, query.get("queryid")
        end = "complete='true'" if not differs and chance.random() < 0.7 else ""
        count = chance.choice([0, 0, 5]) if differs else 5
        ids = []
        for number in range(count):
            serial = chance.randrange(1, 40) if differs else book.serial
            if not differs:
                book.serial += 1
            ids.append(f"a{serial}")
            sender, sort = (f"{to}/romeo", "groupchat") if "@rooms." in to else (f"c{serial % CONTACTS}@localhost/x", "chat")
            self.send(f"<message to='{FULL}' from='{to}'><result xmlns='{MAM}'{f' queryid={quoteattr(identifier)}' if identifier else ''} "
                      f"id='a{serial}'><forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' "
                      f"stamp='2026-11-2{serial % 7}T10:00:{serial % 60:02}Z'/><message xmlns='{CLIENT}' from='{sender}' to='{ME}' "
                      f"type='{sort}' id='m{serial}'><body>archived {serial}</body></message></forwarded></result></message>")
            book.results += 1
        ids = ids or [name("p"), name("p")]
        return (f"<fin xmlns='{MAM}' {end}><set xmlns='http://jabber.org/protocol/rsm'><first>{ids[0]}</first><last>{ids[-1]}</last>"
                "<count>100</count></set></fin>")

    def node(self, request, pubsub, differs):
        verb = next(iter(pubsub), None)
        if verb is None:
            return ""
        word, node, owner = tag(verb)[1], verb.get("node", ""), request.get("to") or ME
        if word == "publish":
            item = next(iter(verb), None)
            payload = next(iter(item), None) if item is not None else None
            if payload is not None and not differs:
                # Elements are written with prefixes, which is allowed, too.
                book.items[(owner, node, item.get("id") or "current")] = ElementTree.tostring(payload, encoding="unicode")
            return f"<pubsub xmlns='{PUBSUB}'><publish node={quoteattr(node)}><item id={quoteattr(item.get('id') or 'current')}/>" \
                   "</publish></pubsub>" if item is not None else ""
        if word == "items":
            return f"<pubsub xmlns='{PUBSUB}'><items node={quoteattr(node)}>{self.items(owner, node, differs)}</items></pubsub>"
        if word == "configure":
            return (f"<pubsub xmlns='{PUBSUB}#owner'><configure node={quoteattr(node)}><x xmlns='jabber:x:data' type='form'>"
                    f"<field var='FORM_TYPE' type='hidden'><value>{PUBSUB}#node_config</value></field><field var='pubsub#access_model'>"
                    "<value>whitelist</value></field><field var='pubsub#max_items'><value>1</value></field></x></configure></pubsub>")
        return ""

    def items(self, owner, node, differs):
        if node == BOOKMARKS:
            kept = {identifier: text for (whose, which, identifier), text in book.items.items() if which == node}
            named = f"<conference xmlns='{BOOKMARKS}' autojoin='true'/>"
            return "".join(f"<item id='{room(number)}'>{named if differs else kept.get(room(number), named)}</item>"
                           for number in range(ROOMS))
        if node == DISPLAYED:
            return "".join(f"<item id='c{number}@localhost'>{self.displayed(differs)}</item>" for number in range(CONTACTS))
        kept = [(identifier, text) for (whose, which, identifier), text in book.items.items() if (whose, which) == (owner, node)]
        if kept and not differs:
            return "".join(f"<item id={quoteattr(identifier)}>{text}</item>" for identifier, text in kept)
        if node == OMEMO + ".devicelist":
            return f"<item id='current'>{self.devices(owner)}</item>"
        if "bundles" in node:
            return f"<item id='current'>{self.bundle(node)}</item>"
        return ""

    @staticmethod
    def displayed(differs):
        serial = 1 if differs else book.serial
        return f"<displayed xmlns='{DISPLAYED}'><stanza-id xmlns='urn:xmpp:sid:0' by='{ME}' id='a{serial}'/></displayed>"

    @staticmethod
    def devices(owner):
        count = chance.choice([0, 3, 40])
        return f"<list xmlns='{OMEMO}'>" + "".join(f"<device id='{chance.randrange(1, 300)}'/>" for _ in range(count)) + "</list>"

    @staticmethod
    def bundle(node):
        """Keys of somebody, or bytes that are no keys."""
        texts = [text for (_, which, _), text in book.items.items() if "bundles" in which]
        if texts and chance.random() < 0.5:
            return chance.choice(texts)
        def some(count):
            return base64.b64encode(chance.randbytes(count)).decode()
        return (f"<bundle xmlns='{OMEMO}'><signedPreKeyPublic signedPreKeyId='1'>{some(33)}</signedPreKeyPublic><signedPreKeySignature>"
                f"{some(64)}</signedPreKeySignature><identityKey>{some(33)}</identityKey><prekeys><preKeyPublic preKeyId='1'>{some(33)}"
                "</preKeyPublic></prekeys></bundle>")

    # Rooms

    def enter(self, presence):
        where, nick = presence.get("to").split("/", 1)
        how = self.wrong("presence room")
        if how == "silence":
            return
        if how in ("error", "not-acceptable"):
            condition, sort = chance.choice(CONDITIONS)
            return self.send(f"<presence type='error' from={quoteattr(presence.get('to'))}><x xmlns='{MUC}'/><error type='{sort}'>"
                             f"<{condition} xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></presence>")
        self.send(f"<presence from='{where}/romeo'><x xmlns='{MUC}#user'><item affiliation='owner' role='moderator' "
                  f"jid='c1@localhost/x'/></x></presence>")
        self.send(f"<presence from={quoteattr(presence.get('to'))}><x xmlns='{MUC}#user'><item affiliation='member' role='participant'/>"
                  f"<status code='110'/><status code='100'/></x></presence>")
        if how != "empty":
            self.send(f"<message from='{where}' type='groupchat'><subject>{how}</subject></message>")

    def reflect(self, message):
        text = "".join(ElementTree.tostring(child, encoding="unicode") for child in message)
        self.send(f"<message from={quoteattr(message.get('to') + '/juliet')} type='groupchat' id={quoteattr(message.get('id') or '')}>"
                  f"{text}<stanza-id xmlns='urn:xmpp:sid:0' by={quoteattr(message.get('to'))} id='{name('a')}'/></message>")

    # What makes the client ask

    def provoke(self):
        book.left -= 1
        if book.left <= 0:
            book.change_mood()
        book.provoked += 1
        related = [way for word, ways in RELATED for way in ways if any(word in victim for victim in book.moods)]
        chance.choice(related if related and chance.random() < 0.5 else PROVOCATIONS)(self)

    def event(self, node, owner, items):
        self.send(f"<message from='{owner}' type='headline'><event xmlns='{EVENT}'><items node={quoteattr(node)}>{items}</items></event>"
                  "</message>")

    def request(self, sender, sort, content):
        book.asked += 1
        self.send(f"<iq type='{sort}' id='{name('q')}' from='{sender}' to='{FULL}'>{content}</iq>")

    def bookmarks_event(self):
        self.event(BOOKMARKS, ME, self.items(ME, BOOKMARKS, chance.random() < 0.5))

    def displayed_event(self):
        self.event(DISPLAYED, ME, f"<item id='{contact()}'>{self.displayed(True)}</item>")

    def list_event(self):
        owner = chance.choice([ME, contact()])
        self.event(OMEMO + ".devicelist", owner, f"<item id='current'>{self.devices(owner)}</item>")

    def node_event(self):
        self.event(chance.choice(["urn:xmpp:avatar:metadata", "http://jabber.org/protocol/nick", name("urn:example:")]), contact(),
                   "<item id='x'><x xmlns='urn:example:x'/></item>")

    def changed_room(self):
        where = room()
        for _ in range(chance.choice([1, 20])):
            self.send(f"<message from='{where}' type='groupchat'><x xmlns='{MUC}#user'><status code='104'/></x></message>")

    def left_room(self):
        where, code = room(), chance.choice(["307", "321", "322", "332", "333", "110"])
        self.send(f"<presence type='unavailable' from='{where}/juliet'><x xmlns='{MUC}#user'><item affiliation='none' role='none'/>"
                  f"<status code='{code}'/><status code='110'/></x></presence>")

    def occupant(self):
        self.send(f"<presence from='{room()}/{name()}'><x xmlns='{MUC}#user'><item affiliation='member' role='participant' "
                  f"jid='{contact()}/x'/></x></presence>")

    def said_in_room(self):
        where, serial = room(), name("a")
        book.asked += 1
        self.send(f"<message from='{where}/romeo' type='groupchat' id='{serial}'><body>in the room</body>"
                  f"<stanza-id xmlns='urn:xmpp:sid:0' by='{where}' id='{serial}'/></message>")

    def invitation(self):
        self.send(f"<message from='{room(chance.randrange(1000))}'><x xmlns='{MUC}#user'><invite from='{contact()}'/></x></message>")

    def roster_push(self):
        self.request(ME, "set", f"<query xmlns='jabber:iq:roster' ver='{name()}'><item jid='{contact()}' "
                     f"subscription='{chance.choice(['both', 'from', 'none', 'remove', 'to'])}'/></query>")

    def block_push(self):
        word = chance.choice(["block", "unblock"])
        self.request(ME, "set", f"<{word} xmlns='urn:xmpp:blocking'><item jid='{name('x')}@example.org'/></{word}>")

    def question(self):
        self.request(chance.choice(["localhost", contact() + "/x", "stranger@example.org/x"]), "get", chance.choice(
            [f"<query xmlns='{INFO}'/>", f"<ping xmlns='{PING}'/>", "<query xmlns='jabber:iq:version'/>", "<x xmlns='urn:example:x'/>"]))

    def hash(self):
        self.send(f"<presence from='{contact()}/{name()}'><c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='urn:example:n' "
                  f"ver='{base64.b64encode(chance.randbytes(20)).decode()}'/></presence>")

    def subscription(self):
        self.send(f"<presence from='{contact()}' type='{chance.choice(['subscribe', 'subscribed', 'unsubscribe', 'unsubscribed'])}'/>")

    def message(self):
        serial = name("a")
        book.asked += 1
        self.send(f"<message from='{contact()}/x' to='{FULL}' type='chat' id='{serial}'><body>live</body><request "
                  f"xmlns='urn:xmpp:receipts'/><markable xmlns='urn:xmpp:chat-markers:0'/><stanza-id xmlns='urn:xmpp:sid:0' by='{ME}' "
                  f"id='{serial}'/></message>")

    def encrypted(self):
        book.asked += 1
        self.send(f"<message from='{contact()}/x' to='{FULL}' type='chat' id='{name()}'><encrypted xmlns='{OMEMO}'><header "
                  f"sid='{chance.randrange(1, 300)}'><key rid='{chance.randrange(1, 9)}'>AAAA</key><iv>AAAAAAAAAAAAAAAA</iv></header>"
                  "<payload>AAAA</payload></encrypted></message>")

    def lost(self):
        """The client's message could not be delivered."""
        self.send(f"<message from='{contact()}' to='{FULL}' type='error' id='{name()}'><error type='wait'><recipient-unavailable "
                  "xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>")

    def purged(self):
        node = chance.choice([BOOKMARKS, OMEMO + ".devicelist", DISPLAYED])
        verb = chance.choice(["purge", "delete"])
        self.send(f"<message from='{ME}' type='headline'><event xmlns='{EVENT}'><{verb} node='{node}'/></event></message>")

    def acknowledgements(self):
        for _ in range(20):
            self.raw(f"<r xmlns='{SM}'/>")


PROVOCATIONS = [Link.bookmarks_event, Link.displayed_event, Link.list_event, Link.node_event, Link.changed_room, Link.left_room,
                Link.occupant, Link.said_in_room, Link.invitation, Link.roster_push, Link.block_push, Link.question, Link.hash,
                Link.subscription, Link.message, Link.encrypted, Link.lost, Link.purged, Link.acknowledgements]
# What makes a client ask for what is answered wrongly at present.
RELATED = [("bookmarks", [Link.bookmarks_event]), ("room", [Link.left_room, Link.changed_room]), ("list", [Link.list_event]),
           ("bundle", [Link.list_event, Link.encrypted]), ("displayed", [Link.displayed_event]), ("entity", [Link.hash])]


def commands():
    for _ in sys.stdin:
        book.say()
    os._exit(0)


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.cert, options.key)
    listener = socket.create_server(("127.0.0.1", options.port), backlog=8)
    threading.Thread(target=commands, daemon=True).start()
    print("ready", flush=True)
    while True:
        plain, _ = listener.accept()
        book.connections += 1
        try:
            plain.settimeout(20)
            with context.wrap_socket(plain, server_side=True) as connection:
                Link(connection).run()
        except (Closed, OSError, ElementTree.ParseError) as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)


main()
