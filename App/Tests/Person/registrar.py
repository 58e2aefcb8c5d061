"""A server that makes accounts, and is an enemy: forms without an end, labels of a megabyte, letters that turn the direction, markup, riddles that are no
pictures, answers that never come, come twice or come for something else, and connections that end.

    stage PROGRAM accounts-hostile          ATTACKS="labels silence": some of them alone
"""
import base64
import os
import re
import socket
import ssl
import threading
import time

import flood
import person
import tour

HEADER = ("<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' from='localhost' id='s' "
          "version='1.0'><stream:features>{}</stream:features>")
STARTTLS = "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls>"
OFFERS = ("<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism></mechanisms>"
          "<register xmlns='http://jabber.org/features/iq-register'/><register xmlns='urn:xmpp:invite'/><register xmlns='urn:xmpp:ibr-token:0'/>")
TURNED = "\u202eevil\u2066 \u200b"
MARKS = "Z" + "\u0335\u0311\u0321" * 100_000
#: Milliseconds that the main loop may take at a time.
LONGEST = 100


def form(fields, before="", after="", instructions=("Fill in",)):
    told = "".join(f"<instructions>{text}</instructions>" for text in instructions)
    return (f"<query xmlns='jabber:iq:register'>{before}<x xmlns='jabber:x:data' type='form'><title>An account</title>{told}"
            "<field var='FORM_TYPE' type='hidden'><value>jabber:iq:register</value></field>"
            "<field var='username' type='text-single' label='User'><required/></field>"
            f"<field var='password' type='text-private' label='Password'><required/></field>{fields}</x></query>{after}")


def field(name, label="A question", kind="text-single", inside=""):
    return f"<field var='{name}' type='{kind}' label='{label}'>{inside}</field>"


def media(*places):
    uris = "".join(f"<uri type='{kind}'>{place}</uri>" for kind, place in places)
    return f"<media xmlns='urn:xmpp:media-element'>{uris}</media><required/>"


def bob(text, kind="image/png", cid="sha1+0@bob.xmpp.org"):
    return f"<data xmlns='urn:xmpp:bob' cid='{cid}' type='{kind}' max-age='0'>{text}</data>"


def options(count):
    return "".join(f"<option label='Option {n}'><value>{n}</value></option>" for n in range(count))


NONE = "This is no invitation.*"
#: What is entered as an invitation, and what is said.
LINKS = {"1 MB": ("xmpp:localhost?register;preauth=" + "A" * 1_000_000, ".*(not valid|no invitation|has ended).*"),
         "name of 1 MB": ("xmpp:romeo@localhost?roster;preauth=T;ibr=y;name=" + "%F0%9F%92%A5" * 80_000, ".*(not valid|no invitation).*"),
         "percents": ("xmpp:localhost?register;preauth=%%%ZZ%00%FF%", ".*(not valid|no invitation).*"),
         "zero": ("xmpp:local%00host?register;preauth=T", NONE),
         "turned": ("xmpp:romeo@localhost?roster;preauth=T;ibr=y;name=%E2%80%AEoemor%20%3Cb%3E", ".*not valid.*"),
         "another action": ("xmpp:localhost?message;body=x", NONE),
         "refused": ("xmpp:localhost?register;preauth=T", ".*not valid any more.*")}


class Registrar:
    """The server: each connection is a thread, which answers by what the attack says."""

    def __init__(self, certificate, key):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        #: What has come of a connection beyond its last request.
        self.rests = {}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.begin()
        threading.Thread(target=self.accept, daemon=True).start()

    def begin(self, get=form(""), submit=None, features=OFFERS, preauth="", closes=None, silent=None):
        """What the next connections get: `closes` and `silent` name the stage at which a connection ends, or hears nothing more."""
        self.get, self.submit, self.features, self.preauth, self.closes, self.silent = get, submit, features, preauth, closes, silent
        self.stages, self.submitted = [], []

    def accept(self):
        while True:
            line, _ = self.listener.accept()
            threading.Thread(target=self.guard, args=(line,), daemon=True).start()

    def guard(self, line):
        try:
            self.serve(line)
        except (OSError, ssl.SSLError, EOFError):
            pass
        finally:
            line.close()

    def reach(self, stage):
        self.stages.append(stage)
        if self.silent == stage:
            time.sleep(3600)
        if self.closes == stage:
            raise EOFError

    def serve(self, line):
        self.read_until(line, b"<stream:stream[^>]*>")
        self.reach("plain")
        line.sendall(HEADER.format(STARTTLS).encode())
        self.read_until(line, b"<starttls[^>]*>")
        line.sendall(b"<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        with self.context.wrap_socket(line, server_side=True) as line:
            self.talk(line)

    def talk(self, line):
        self.read_until(line, b"<stream:stream[^>]*>")
        self.reach("features")
        line.sendall(HEADER.format(self.features).encode())
        while True:
            request = self.read_until(line, b"<iq.*?</iq>|</stream:stream>").decode()
            if request.startswith("</"):
                return
            number = re.search(r"\bid=[\"']([^\"']*)", request)[1]
            head = f"<iq from='localhost' id='{number}' "
            if "preauth" in request:
                self.reach("preauth")
                line.sendall((head + (self.preauth or "type='result'/>")).encode())
            elif "type='get'" in request or 'type="get"' in request:
                self.reach("form")
                body = self.get() if callable(self.get) else self.get
                line.sendall(body.encode() if body.startswith("<iq") else f"{head}type='result'>{body}</iq>".encode())
            else:
                self.submitted.append(request)
                self.reach("submit")
                body = self.submit or "<error type='modify'><not-acceptable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>"
                line.sendall(body.encode() if body.startswith("<iq") else f"{head}type='error'>{body}</iq>".encode())
                self.reach("refused")

    def read_until(self, line, pattern, most=4 << 20):
        held = self.rests.pop(line, b"")
        while True:
            found = re.search(pattern, held, re.S)
            if found:
                if isinstance(line, ssl.SSLSocket):  # TLS begins with the next byte otherwise
                    self.rests[line] = held[found.end():]
                return found.group()
            more = line.recv(65536)
            if not more or len(held) > most:
                raise EOFError
            held += more


class Hostile(tour.Stage):
    start_watched, stretches, memory = flood.Flood.start_watched, flood.Flood.stretches, flood.Flood.memory

    def run(self):
        self.registrar = Registrar(self.server.certificate, self.server.folder / "certs/localhost.key")
        self.faults = []
        me = self.person
        self.begin_app()
        for name in os.environ.get("ATTACKS", " ".join(ATTACKS)).split():
            self.attack(name)
        if "ATTACKS" not in os.environ:
            self.invitations()
        me.end()
        self.warnings()
        if self.faults:
            raise person.Lost("\n".join(self.faults))

    def begin_app(self):
        self.start_watched()
        self.person.wait_focus("text|entry", "Address")
        self.open()

    def open(self):
        self.person.press("New account")
        self.person.wait_focus("text|entry", "Server")

    def invitations(self):
        """Links that are none, or too long, or of another server; and an invitation that the server does not take."""
        me = self.person
        for _ in range(4):
            me.key("Escape")
            time.sleep(0.3)
            if me.sees("push button", "I have an invitation"):
                break
        me.press("I have an invitation")
        me.wait("the field", lambda: next(me.fields("Invitation"), None))
        self.registrar.begin(preauth="type='error'>" + error("item-not-found") + "</iq>")
        for what, (link, words) in LINKS.items():
            before = len(self.stretches())
            me.enter("Server", f"localhost:{self.registrar.port}")
            me.enter("Invitation", link)
            time.sleep(0.5)
            me.press("Next")
            said = me.wait("a reason", lambda: next((node.get_name() for node in me.nodes("label", words)), None))
            me.picture(f"hostile-link-{what}.png")
            busy = [used for _, used in self.stretches()[before:]]
            self.say(f"link, {what}: at most {max(busy):.0f} ms at a time; {said[:120]!r}")
            if max(busy) > LONGEST:
                self.faults.append(f"link, {what}: the main loop took {max(busy):.0f} ms at a time")
            self.said()

    def attack(self, name):
        me, before = self.person, len(self.stretches())
        memory = self.memory()
        try:
            ATTACKS[name](self)
            time.sleep(0.5)
            me.picture(f"hostile-{name}.png")
            said = self.said()
            self.back()
        except person.Lost as error:
            me.picture(f"hostile-{name}.png")
            said = "LOST " + str(error)[:1500]
            self.faults.append(f"{name}: {said}")
            if me.program.poll() is None:
                me.kill()
            self.begin_app()
        busy = [used for _, used in self.stretches()[before:]] or [0]
        slow = [round(time) for time in busy if time > LONGEST]
        if slow:
            self.faults.append(f"{name}: the main loop took {slow} ms at a time")
        self.say(f"{name}: at most {max(busy):.0f} ms at a time, {len(slow)} over {LONGEST} ms, {memory} -> {self.memory()} MB; {said[:300]!r}")

    def said(self):
        """The words that explain a state: labels that are not fixed ones of the screen."""
        fixed = {"Cancel", "Next", "Kalij", "Server", "New account", "Make account", "User name", "New password", "Show password"}
        found = [node.get_name() or "" for node in self.person.nodes("label")]
        bad = [word for word in found if re.search("[\u202a-\u202e\u2066-\u2069]", word) or len(word) > 20_000]
        if bad:
            self.faults.append(f"a label turns the direction, or is too long: {[word[:60] for word in bad]}")
        return " | ".join(word[:100] for word in found if word and word not in fixed)

    def back(self):
        me = self.person
        for _ in range(5):
            me.key("Escape")
            time.sleep(0.3)
            node = me.focused()
            if node and node.get_name() == "Server":
                return
            if me.sees("push button", "New account"):
                self.open()
                return

    # What the person does

    def ask(self):
        me = self.person
        me.enter("Server", f"localhost:{self.registrar.port}")
        me.press("Next")

    def fill(self, seconds=20, **values):
        """Fills in the form, and submits it."""
        me = self.person
        self.ask()
        me.see("text|entry", "User name", seconds)
        me.enter("User name", "mercutio")
        me.enter("New password", "a plague")
        for name, value in values.items():
            me.enter(name, value)
        me.press("Make account")

    def shown(self, seconds=30):
        """The form, or a reason, is there."""
        me = self.person
        self.ask()
        me.wait("a form or a reason", lambda: me.sees("text|entry", "User name") or self.reason(), seconds)

    def reason(self):
        words = ".*(The server d|The server m|makes accounts|makes no|has ended|offers no chat|does not answer).*"
        return next((node.get_name() for node in self.person.nodes("label", words)), None)


def shows(*words, **behaviour):
    def attack(stage):
        stage.registrar.begin(*words, **behaviour)
        stage.shown()
    return attack


def submits(*words, **behaviour):
    def attack(stage):
        stage.registrar.begin(*words, **behaviour)
        stage.fill()
        stage.person.wait("a reason", stage.reason, 30)
    return attack


def keeps(stage):
    """The connection ends when the form is submitted: what was entered is in the next form."""
    me = stage.person
    stage.registrar.begin(form(field("a", "Town")), closes="submit")
    stage.fill(Town="Verona")
    me.wait("the reason", lambda: "What you have entered is kept" in (stage.reason() or ""))
    me.picture("hostile-kept.png")
    stage.registrar.begin(form(field("a", "Town")))
    me.press("Next")
    me.wait("what was entered", lambda: [me.text(next(me.fields(name))) for name in ("User name", "Town")] == ["mercutio", "Verona"])
    me.press("Make account")
    me.wait("the submission", lambda: "a plague" in "".join(stage.registrar.submitted))


def waits(stage_name, **behaviour):
    """Nothing more comes, or nothing that counts: the person cancels, and the screen is there at once."""
    def attack(stage):
        me, silent = stage.person, stage_name
        stage.registrar.begin(**(behaviour or {"silent": silent}))
        if silent == "submit":
            stage.fill()
        else:
            stage.ask()
        me.wait("the stage", lambda: silent in stage.registrar.stages)
        time.sleep(0.3)
        begun = time.monotonic()
        me.press("Cancel")
        me.wait_focus("text|entry", "Server")
        if time.monotonic() - begun > 2:
            raise person.Lost("Cancel took long")
    return attack


def again(stage):
    """The form is asked for again five times."""
    me = stage.person
    stage.registrar.begin()
    stage.fill()
    for number in range(5):
        me.wait("the refusal", lambda: len(stage.registrar.submitted) == number + 1 and stage.reason())
        time.sleep(0.3)
        name = me.wait("the name", lambda: next(me.fields("User name"), None))
        if me.text(name) != "mercutio":
            raise person.Lost("the name is lost: " + me.text(name))
        me.press("Make account")


def error(condition, text="", kind="cancel"):
    told = f"<text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>{text}</text>" if text else ""
    return f"<error type='{kind}'><{condition} xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>{told}</error>"


CID = ("image/png", "cid:sha1+0@bob.xmpp.org")
ATTACKS = {
    "fields": shows(form("".join(field(f"f{n}") for n in range(10_000)))),
    "fields-96": shows(form("".join(field(f"f{n}", "long " * 1000) for n in range(96)))),
    "label": shows(form(field("a", "x" * 1_000_000))),
    "label-240k": shows(form(field("a", "x" * 240_000))),
    "marks": shows(form(field("a", MARKS[:100_000]) + field("b", "\U0001F469\u200D\U0001F680" * 10_000), instructions=(MARKS[:80_000],))),
    "name": shows(form(field("x" * 200_000, "") + "<field var='" + TURNED + "&lt;b&gt;'/>")),
    "turned": shows(form(field("a", TURNED + "&lt;b&gt;bold&lt;/b&gt;") + field("b", "x", "list-single", f"<option label='{TURNED}'><value>1</value></option>")
                         + "<field type='fixed'><value>" + TURNED + "&lt;span size='99999'&gt;big</value></field>" + field("c", "x", "text-single", f"<desc>{TURNED}</desc>"),
                         instructions=(TURNED + "&lt;b&gt;bold", "You, 10:00: yes"))),
    "instructions": shows(form("", instructions=["line " * 100] * 400)),
    "instructions-many": shows(form("", instructions=["x"] * 9_000)),
    "newlines": shows(form("<field type='fixed'><value>" + "\n" * 100_000 + "</value></field>")),
    "values": shows(form(field("a", inside=f"<value>{'x' * 200_000}</value>"))),
    "values-multi": shows(form(field("a", kind="text-multi", inside="<value>" + "x" * 200_000 + "</value>"))),
    "lines": shows(form(field("a", kind="text-multi", inside="<value>y</value>" * 15_000))),
    "options": shows(form(field("a", kind="list-single", inside=options(4_000)))),
    "checks": shows(form(field("a", kind="list-multi", inside=options(4_000)))),
    "links": shows(form(field("a", inside=media(*[("audio/ogg", f"https://localhost/{n}") for n in range(4_000)])))),
    "link": shows(form(field("a", inside=media(("audio/ogg", "https://localhost/" + TURNED + "x" * 100_000))))),
    "pages": shows(form("".join(f"<field var='p{n}' type='text-single' label='Page'><value>https://localhost/{'y' * 2000}</value></field>" for n in range(90)))),
    "twice": submits(form(field("a", "First") + field("a", "Second"))),
    "hidden": submits(form("<field var='challenge' type='hidden'><value>secret</value></field>")),
    "nothing": shows("<query xmlns='jabber:iq:register'/>"),
    "riddle-100MB": shows(form(field("ocr", "Enter", inside=media(CID)), after=bob("A" * 100_000_000))),
    "riddle-200kB": shows(form(field("ocr", "Enter", inside=media(CID)), after=bob("A" * 200_000))),
    "riddle-text": shows(form(field("ocr", "Enter", inside=media(CID)), after=bob(base64.b64encode(b"no picture").decode()))),
    "riddle-type": shows(form(field("ocr", "Enter", inside=media(("text/html", CID[1]))), after=bob("AAAA", "text/html"))),
    "riddle-missing": shows(form(field("ocr", "Enter", inside=media(CID)))),
    "riddles": shows(form("".join(field(f"o{n}", f"Enter {n}", inside=media(CID)) for n in range(90)), after=bob(base64.b64encode(b"no picture").decode()))),
    "again": again,
    "kept": keeps,
    "registered": shows("<query xmlns='jabber:iq:register'><registered/><username>x</username></query>"),
    "wrong-id": waits("form", get="<iq from='localhost' id='other' type='result'>" + form("") + "</iq>"),
    "silent-plain": waits("plain"),
    "silent-features": waits("features"),
    "silent-form": waits("form"),
    "silent-submit": waits("submit"),
    "closed-plain": shows(closes="plain"),
    "closed-features": shows(closes="features"),
    "closed-form": shows(closes="form"),
    "closed-submit": submits(closes="submit"),
    "refused": submits(submit=error("not-acceptable", TURNED + "&lt;b&gt; " + "long " * 40_000)),
    "error-empty": submits(submit="<error/>"),
    "form-error": shows("<iq from='localhost' id='form' type='error'>" + error("forbidden", "no " * 30_000) + "</iq>"),
    "not-xml": shows("<iq from='localhost' id='form' type='result'><query></iq>"),
    "offers-nothing": shows(features=""),
    "elsewhere-script": shows("<query xmlns='jabber:iq:register'><instructions>x</instructions><x xmlns='jabber:x:oob'><url>javascript:alert(1)</url></x></query>"),
    "elsewhere-file": shows("<query xmlns='jabber:iq:register'><x xmlns='jabber:x:oob'><url>file:///etc/passwd</url></x></query>"),
    "elsewhere-turned": shows(f"<query xmlns='jabber:iq:register'><x xmlns='jabber:x:oob'><url>https://localhost@evil.example/{TURNED.strip()}</url></x></query>"),
    "elsewhere-long": shows(f"<query xmlns='jabber:iq:register'><x xmlns='jabber:x:oob'><url>https://localhost/{'x' * 200_000}</url></x></query>"),
}
