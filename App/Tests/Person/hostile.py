"""A service for rooms that is an enemy: 10,000 invitations; 50,000 occupants, and 200 a second who come and go; nicknames that imitate
others; a subject of 1 MB; an error for each request; an archive that never ends and has what nobody said.

    stage PROGRAM groups-hostile
"""
import asyncio
import os
import re
import subprocess
import threading
import time
import xml.sax.saxutils

import flood
import person
import server as servers
import slixmpp
import tour

SERVICE = "push.localhost"  # the component that the configuration admits
ROOM = "hall@" + SERVICE
INVITATIONS, OCCUPANTS = int(os.environ.get("INVITATIONS", "10000")), int(os.environ.get("OCCUPANTS", "50000"))
RATE, SECONDS, SUBJECT = 200, 10, 1_000_000
#: Nicknames that imitate, and whom: the user, a contact, the rest of a row.
IMITATIONS = ("You", " you", "YOU", "You, 19:15", "y\u043eu\u200b", "romeo\u2066", "romeo@localhost", "Juliet", "Juliet, 19:15: Yes. Delivered")
SEPARATORS = "\u202e\u2066\u200b\n"


class Service:
    """The component, on a thread of its own; it answers each request, and says what the tour wants."""

    def __init__(self, port):
        self.loop, self.online, self.joined = asyncio.new_event_loop(), threading.Event(), threading.Event()
        self.requests, self.archive, self.lies = [], 0, False
        threading.Thread(target=self.run, args=(port,), daemon=True).start()
        if not self.online.wait(20):
            raise SystemExit("the component does not get online")

    def run(self, port):
        asyncio.set_event_loop(self.loop)
        self.client = slixmpp.ComponentXMPP(SERVICE, "component-key", "127.0.0.1", port)
        self.client.add_filter("in", self.came)
        self.client.add_event_handler("session_start", lambda _: self.online.set())
        self.client.connect()
        self.loop.run_forever()

    def send(self, *stanzas):
        done = threading.Event()

        def send():
            for stanza in stanzas:
                self.client.send_raw(stanza)
            done.set()
        self.loop.call_soon_threadsafe(send)
        done.wait(60)

    def came(self, stanza):
        """A slixmpp filter: what it returns none of goes no further."""
        if stanza.name == "presence" and stanza["type"] == "available" and str(stanza["to"]).startswith(ROOM):
            self.full, self.occupant = str(stanza["from"]), str(stanza["to"])
            self.joined.set()
        if stanza.name == "iq" and stanza["type"] in ("get", "set"):
            self.answer(stanza)
            return None
        return stanza

    def answer(self, iq):
        content = next(iter(iq.xml), None)
        name = content.tag if content is not None else ""
        head = f"<iq from='{iq['to']}' to='{iq['from']}' id='{xml.sax.saxutils.escape(iq['id'])}' type="
        if "disco#info" in name:
            features = "".join(f"<feature var='{feature}'/>" for feature in (
                "http://jabber.org/protocol/muc", "urn:xmpp:mam:2", "urn:xmpp:sid:0", "muc_membersonly", "muc_nonanonymous", "muc_persistent"))
            self.client.send_raw(f"{head}'result'><query xmlns='http://jabber.org/protocol/disco#info'>"
                                 f"<identity category='conference' type='text' name='The hall'/>{features}</query></iq>")
        elif "urn:xmpp:ping" in name:
            self.client.send_raw(head + "'result'/>")
        elif "urn:xmpp:mam:2" in name and self.lies:
            self.page(iq, head, content.get("queryid"))
        else:
            self.requests.append(name)
            self.client.send_raw(f"{head}'error'><error type='cancel'><not-allowed xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>"
                                 "<text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>Nothing is allowed here</text></error></iq>")

    def page(self, iq, head, query):
        """A page of an archive without an end: the same ids again, other rooms' messages, times that run backwards."""
        self.archive += 1
        for number in range(10):
            place = f"lie-{self.archive % 3}-{number}"
            sender = ROOM + "/liar" if number % 3 else "juliet@localhost/x"
            self.client.send_raw(
                f"<message from='{iq['to']}' to='{iq['from']}'><result xmlns='urn:xmpp:mam:2' queryid='{query}' id='{place}'>"
                f"<forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='20{40 - number:02}-01-01T00:00:00Z'/>"
                f"<message xmlns='jabber:client' from='{sender}' type='groupchat'><body>a lie {self.archive} {number}</body></message>"
                "</forwarded></result></message>")
        self.client.send_raw(f"{head}'result'><fin xmlns='urn:xmpp:mam:2'><set xmlns='http://jabber.org/protocol/rsm'>"
                             f"<first>lie-a{self.archive}</first><last>lie-b{self.archive}</last><count>10</count></set></fin></iq>")

    # What a room sends

    def presence(self, nick, kind="", status="", jid="", affiliation="member"):
        quoted = xml.sax.saxutils.quoteattr
        address = f"jid={quoted(jid)}" if jid else ""
        role = "none" if kind else "moderator" if affiliation == "owner" else "participant"
        return (f"<presence from={quoted(ROOM + '/' + nick)} to='{self.full}' {kind}><x xmlns='http://jabber.org/protocol/muc#user'>"
                f"<item affiliation='{affiliation}' role='{role}' {address}/>{status}</x></presence>")

    def say(self, nick, text, number):
        quoted = xml.sax.saxutils.quoteattr(ROOM + "/" + nick)
        return (f"<message from={quoted} to='{self.full}' type='groupchat' id='h{number}'><body>{text}</body>"
                f"<stanza-id xmlns='urn:xmpp:sid:0' by='{ROOM}' id='s{number}'/></message>")


class Hostile(tour.Stage):
    start_watched, stretches, memory = flood.Flood.start_watched, flood.Flood.stretches, flood.Flood.memory

    def run(self):
        os.environ["COMPONENT_PORT"] = str(servers.free_port())
        path = self.server.folder / "prosody.cfg.lua"
        path.write_text("component_stanza_size_limit = 8*1024*1024\n" + path.read_text())
        self.juliet, = self.begin("juliet")
        self.log_in()
        self.kalij("add", "juliet@localhost", "--name", "Juliet")
        self.kalij("send", "juliet@localhost", "Good morrow")
        self.service = Service(int(os.environ["COMPONENT_PORT"]))
        self.start_watched()
        self.person.wait_row("Conversations", "Juliet.*")
        time.sleep(1)
        self.longest = []
        self.measured(f"{INVITATIONS} invitations", self.invitations)
        self.measured(f"{OCCUPANTS} occupants and a subject of 1 MB", self.enters)
        self.measured("the screen of the group", self.members)
        self.measured(f"{RATE} arrivals and departures a second", self.crowd)
        self.measured("imitations", self.imitations)
        self.measured("a refused change", self.refused)
        self.measured("an archive of lies", self.lies)
        self.person.end()
        self.warnings()
        worst = max(self.longest)
        if worst > 1000:
            raise person.Lost(f"the app answered no key for {worst:.0f} ms")

    def measured(self, what, do):
        """Does something, and reports how long the main loop was busy at a time."""
        before, cpu = len(self.stretches()), self.cpu()
        begun = time.monotonic()
        do()
        busy = sorted(used for _, used in self.stretches()[before:])
        self.longest.append(busy[-1])
        frames = sum(time > 100 for time in busy)
        self.say(f"{what}: {time.monotonic() - begun:.1f} s, {self.cpu() - cpu} ms of CPU, own memory {self.memory()} MB; the main loop at a time at most "
                 f"{busy[-1]:.0f} ms, {frames} of {len(busy)} over 100 ms")

    def wait_command(self, what, is_there, seconds):
        """Once a second: whoever reads the app's tree takes its main loop."""
        end = time.monotonic() + seconds
        while not is_there():
            if time.monotonic() > end:
                raise person.Lost("not in time: " + what)
            time.sleep(1)

    def invitations(self):
        me = self.person
        text = "<message from='{0}@{1}' to='romeo@localhost'><x xmlns='http://jabber.org/protocol/muc#user'><invite from='mallory{0}@{1}'><reason>{2}</reason></invite></x></message>"
        for start in range(0, INVITATIONS, 500):
            self.service.send(*(text.format(f"room{number}", SERVICE, "come " * 50) for number in range(start, min(start + 500, INVITATIONS))))
        # What another person sends overtakes them at the server.
        self.service.send(f"<message from='end@{SERVICE}' to='romeo@localhost' type='chat'><body>the end</body></message>")
        self.wait_command("the end", lambda: "the end" in self.kalij("chats"), 300)
        self.juliet.loop.call_soon_threadsafe(
            self.juliet.client.send_raw,
            f"<message to='romeo@localhost'><x xmlns='jabber:x:conference' jid='{ROOM}' reason='the last'/></message>")
        self.wait_command("the invitation of a contact", lambda: ROOM in self.kalij("room", "invitations"), 240)
        me.see("push button", f"{min(1000, INVITATIONS + 1)} requests")
        me.key("ctrl+shift+r")
        me.wait_row("Requests", ".*the last.*")
        me.picture("invitations.png")

    def enters(self):
        me, service = self.person, self.service
        me.key("Escape")
        me.gone("list", "Requests")
        # It waits for the end of what follows.
        join = subprocess.Popen([os.environ["KALIJ_BINARY"], "--data", self.data, "room", "join", ROOM, "--nick", "romeo"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not service.joined.wait(20):
            raise person.Lost("the room is not entered")
        for start in range(0, OCCUPANTS, 1000):
            service.send(*(service.presence(f"citizen {number}", jid=f"citizen{number}@{SERVICE}") for number in range(start, min(start + 1000, OCCUPANTS))))
        service.send(service.presence("romeo", status="<status code='110'/><status code='100'/>", jid="romeo@localhost", affiliation="owner"),
                     f"<message from='{ROOM}/mallory' to='{service.full}' type='groupchat'><subject>{'long ' * (SUBJECT // 5)}</subject></message>")
        me.wait("the room", lambda: "joined" in self.kalij("room", "list"), 240)
        join.wait(60)
        me.wait_row("Conversations", "The hall.*")

    def members(self):
        me = self.person
        self.service.send(self.service.say("citizen 1", "Welcome", 0))
        me.wait_row("Conversations", "The hall, .*Welcome.*")
        self.open("The hall")
        me.wait_row("Messages", ".*Welcome")
        me.key("ctrl+i")
        me.see("list", "Members")
        me.wait_focus("list item", ".*")
        me.key("End", "Home")
        me.picture("crowd.png")

    def crowd(self):
        me, service = self.person, self.service
        begun = time.monotonic()
        for turn in range(SECONDS * 10):
            nicks = [f"guest {turn} {number}" for number in range(RATE // 20)]
            service.send(*(service.presence(nick, jid=f"{nick.replace(' ', '-')}@{SERVICE}") for nick in nicks),
                         *(service.presence(nick, kind="type='unavailable'") for nick in nicks))
            time.sleep(max(0, begun + (turn + 1) / 10 - time.monotonic()))
        me.key("Escape")
        me.wait_focus("text", person.MESSAGE)

    def imitations(self):
        me, service = self.person, self.service
        for number, nick in enumerate(IMITATIONS, 1):
            service.send(service.presence(nick, jid=f"mallory{number}@{SERVICE}"), service.say(nick, f"imitation {number}.", number))
        me.wait_row("Messages", f".*imitation {len(IMITATIONS)}\\.")
        rows = [row for row in me.rows("Messages") if "imitation" in row]
        me.picture("imitations.png")
        open(self.stage + "/rows.log", "w").write("\n".join(map(ascii, rows)))
        if len(rows) != len(IMITATIONS):
            raise person.Lost(f"{len(rows)} rows of {len(IMITATIONS)}")
        for row in rows:
            if row.startswith(("Juliet", "romeo")):
                raise person.Lost(f"a row under another's name: {row!a}")
            if re.match(r"\W*you\W", row, re.I) and not row.startswith("“") or any(sign in row for sign in SEPARATORS):
                raise person.Lost(f"a row that lies: {row!a}")
            if not re.fullmatch(r"[^:]*, \d\d:\d\d: imitation \d+\.", row):
                raise person.Lost(f"a name that looks like the rest of a row: {row!a}")

    def refused(self):
        me = self.person
        me.key("ctrl+i")
        me.see("list", "Members")
        me.press("Actions")
        for item in ("Change the topic …", "Rename …"):
            if me.sees("menu item", item):
                break
        else:
            raise person.Lost("an owner may change nothing")
        me.press(item, "menu item")
        # The button of the menu keeps its focus in the tree, too, on a busy machine.
        me.wait("the dialog's field", lambda: any("FOCUSED" in person.states(node) for node in me.fields("Topic|Group name")))
        me.type("x")
        me.key("Return")
        me.see("label", ".*(does not permit|not possible|not allow).*")
        me.picture("refused.png")
        me.key("Escape")

    def lies(self):
        me, service = self.person, self.service
        service.lies = True
        self.juliet.say("romeo@localhost", "before the lies")
        service.send(service.presence("romeo", kind="type='unavailable'", status="<status code='110'/><status code='332'/>", jid="romeo@localhost"))
        service.joined.clear()
        if not service.joined.wait(60):
            raise person.Lost("the room is not entered again")
        service.send(service.presence("romeo", status="<status code='110'/>", jid="romeo@localhost", affiliation="owner"),
                     f"<message from='{ROOM}/mallory' to='{service.full}' type='groupchat'><subject>OK</subject></message>")
        time.sleep(10)
        pages = service.archive
        self.juliet.say("romeo@localhost", "after the lies")
        me.key("Escape")
        me.wait_row("Conversations", "Juliet, after the lies.*|Juliet, 2 unread.*|Juliet, .*after the lies.*")
        time.sleep(3)
        lied = [line for line in self.kalij("history", "juliet@localhost").splitlines() if "a lie" in line]
        if lied:
            raise person.Lost(f"the room's archive has put words into juliet's mouth: {lied[:3]}")
        self.say(f"{pages} pages of the archive were read, {service.archive - pages} in the next three seconds")
