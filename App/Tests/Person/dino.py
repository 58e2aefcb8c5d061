"""The same tour in the app and in Dino, under Orca and on one server, and what was heard of each, as a table."""
import os
import re
import shutil
import subprocess
import time

import groups
import heard
import person

ANSWERS = ("To thee, good morrow", "How camest thou hither", "Dost thou love me")
OWN = "Good morrow"
#: What comes into the group, from two people.
IN_GROUP = ("Good evening to both", "Where is the nurse", "Here I am")
ROOM = "verona@conference.localhost"
#: Dino of Debian 12 stops telling Orca of itself, now and then.
ATTEMPTS = 4
CLASS = re.compile(r"\b(Adw|Gtk|Gdk|DinoUi)[A-Z]\w+")
#: What Orca says of a thing that has a role and no name.
ROLE_ALONE = re.compile(r"(text|entry|push button|button|toggle button|panel|scroll pane|image|label|list|list item|frame|filler|unnamed)\.?")
#: The rows of the conversations' lists; what they say of the last message is no reading of it.
CONVERSATION = re.compile(r".* (just now|\d+ mins? ago) .*|.*, \d\d:\d\d\.?", re.I)
CLONE_NEWNET = 0x40000000


def alone(stage):
    """A network and a view of the files for this process alone: Dino takes no other port than 5222."""
    person.unshare(CLONE_NEWNET)
    with open(stage + "/resolv.conf", "w") as file:
        file.write("nameserver 127.0.0.1\n")
    # Dino connects only while there is a default route.
    for words in (f"mount --bind {stage}/resolv.conf /etc/resolv.conf", "ip link set lo up", "ip route add default dev lo"):
        subprocess.run(words.split(), check=True, timeout=20, capture_output=True, text=True)


def trust(certificate):
    """Dino trusts the system's authorities alone: now that is this one."""
    subprocess.run(["mount", "--bind", str(certificate), "/etc/ssl/certs/ca-certificates.crt"], check=True, timeout=20, capture_output=True)


class DinoPerson(person.Person):
    """A person at Dino."""

    def __init__(self):
        super().__init__("dino-im")

    def start(self):
        self.log = os.environ["STAGE"] + "/dino.log"
        # Dino does not live through G_DEBUG=fatal-criticals.
        environment = {key: value for key, value in os.environ.items() if key != "G_DEBUG"} | {"XDG_DATA_HOME": os.environ["STAGE"] + "/dino"}
        self.program = subprocess.Popen(["dino-im"], env=environment, stdout=open(self.log, "ab"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.app = self.wait("Dino", self.find_app)


class Heard:
    """What was heard of one program."""

    def __init__(self, name):
        self.name, self.stops, self.silent, self.unnamed, self.classes = name, 0, [], [], []
        self.keys = self.keys_to_enter = self.keys_to_sent = self.keys_to_group = self.spoken_classes = 0
        self.times, self.read, self.reaches_invite = {}, [], False


class Beside(heard.Heard):
    def run(self):
        alone(self.stage)
        trust(self.server.certificate)
        self.server.port = 5222
        self.unlock()
        self.begin()
        for user in ("mercutio", "juliet", "nurse"):
            self.server.register(user, "secret-" + user)
        self.juliet, self.nurse = (groups.Guest(self.server, user, "secret-" + user) for user in ("juliet", "nurse"))
        ours, dino = self.tour("Kalij", self.in_kalij), self.attempts()
        self.table(ours, dino)
        twice = [text for text in (*ANSWERS, *IN_GROUP) if ours.times[text] != 1]
        for what, fault in (("unnamed", ours.unnamed), ("silent", ours.silent), ("called by a class", ours.classes),
                            ("not spoken once", twice), ("not to be read", set((OWN, *ANSWERS)) - set(ours.read))):
            if fault:
                raise person.Lost(f"{what}: {fault}")

    def unlock(self):
        """Others may enter a new room before it is configured. Prosody's default lets nobody in, and Dino does not configure one."""
        path = self.server.folder / "prosody.cfg.lua"
        path.write_text(path.read_text().replace("  restrict_room_creation = false", "  restrict_room_creation = false\n  muc_room_locking = false"))

    def tour(self, name, tour):
        """One program's tour, under an Orca of its own."""
        self.it = it = Heard(name)
        with self.orca("-" + name.split()[0].lower()):
            self.quiet()
            tour()
            with open(f"{self.stage}/tree-{self.person.name}.log", "w") as file:
                file.write(self.person.tree())
            it.spoken_classes = len([line for line in self.said(0) if CLASS.search(line)])
            self.person.end()
        return it

    def attempts(self):
        for attempt in range(ATTEMPTS):
            try:
                return self.tour("Dino 0.4.2", self.in_dino)
            except person.Lost as error:
                if attempt == ATTEMPTS - 1 or str(error) != "Orca hangs":
                    raise
                self.say("Orca hangs at Dino; once more from its first start")
                self.person.kill()
                shutil.rmtree(self.stage + "/dino")
                os.remove(self.log)
                self.juliet.received.clear()

    def in_kalij(self):
        me, it = self.person, self.it
        self.arrive("start", lambda: (self.start(), me.see("label", "Welcome to Kalij")), "Address")
        self.type("romeo@localhost")
        self.press("Tab", "Password")
        self.type("secret-romeo")
        self.press("Return")
        me.see("label", "No conversations yet")
        self.quiet()
        it.keys_to_enter = it.keys
        self.press("ctrl+n")
        me.wait_focus("text|entry", "Name or address")
        self.type("juliet@localhost")
        self.press("Return")
        me.wait_focus("text", person.MESSAGE)
        self.send(it)
        self.answers("romeo@localhost")
        self.walk("shift+F6", "Up", "Up", "Up", "Up")
        self.walk("F6", "F6", *["Tab"] * 8)
        self.makes_group()
        self.hears_group()

    def in_dino(self):
        self.enter_dino()
        self.send(self.it)
        self.answers("mercutio@localhost")
        # Out of the composer goes nothing but the search, for Tab writes a tab; Escape after Up, which corrects, leaves the focus on the message.
        self.walk("Page_Up", "shift+F6", "ctrl+f", "ctrl+f", "Escape", *["Tab"] * 6)
        self.walk("ctrl+a", "BackSpace", "Up", "Escape", "Tab", "Down", "Page_Up")
        self.person.key("ctrl+a", "BackSpace")  # the tabs
        self.makes_room()
        self.hears_group()
        self.seeks_invite()

    def enter_dino(self):
        """From the first start to an open conversation with juliet."""
        self.person = me = DinoPerson()
        self.arrive("start", lambda: (me.start(), me.see("push button", "Set up account")), "Welcome")
        self.press("Tab")
        self.press("Return", "JID")
        me.see("filler|frame|dialog", "Add Account")
        self.type("mercutio@localhost")
        self.press("Return", "Password")
        me.see("label", "Sign in to mercutio@localhost")
        self.quiet()
        self.type("secret-mercutio")
        self.press("Return")
        me.see("label", "All set up!")
        self.quiet()
        self.press("Return")
        self.it.keys_to_enter = self.it.keys
        self.opens("juliet@localhost")

    def opens(self, address):
        """A conversation in Dino."""
        me = self.person
        self.press("ctrl+t")
        me.see("dialog", "Start Conversation")
        self.type(address)
        me.see("label", address)
        self.press("Tab")
        self.press("Return")
        me.gone("dialog", "Start Conversation")
        self.quiet()

    # A group of three

    def makes_group(self):
        """In Kalij: its name, two people."""
        before = self.it.keys
        self.press("ctrl+shift+n")
        self.person.wait_focus("text|entry", "Group name")
        for text in ("Balcony", "juliet@localhost", "nurse@localhost", ""):
            self.type(text)
            self.press("Return")
        self.room = self.juliet.wait_invited()
        self.nurse.wait_invited()
        self.it.reaches_invite = True
        self.are_three(before)

    def makes_room(self):
        """In Dino: a room that does not exist, by its address and a nickname. No key reaches *Invite* in the list of its people, so both are
        told the address, and enter by themselves."""
        before, self.room = self.it.keys, ROOM
        for guest in (self.juliet, self.nurse):
            self.opens(guest.jid)
            self.type("xmpp:" + ROOM)
            self.press("Return")
            guest.wait_for("xmpp:" + ROOM)
        self.press("ctrl+g")
        self.person.see("dialog", "Join Channel")
        self.type(ROOM)
        self.press_all("Tab", "Return", "Tab", "Tab")
        self.type("mercutio")
        self.press_all("Tab", "Tab", "Return")
        self.person.gone("dialog", "Join Channel")
        for guest in (self.juliet, self.nurse):
            guest.loop.call_soon_threadsafe(guest.join, ROOM)
        self.are_three(before)

    def seeks_invite(self):
        """Through the list of the room's people in Dino. The way there is the search's, for Tab does not leave the composer."""
        me = self.person
        self.press_all("ctrl+f", *["Tab"] * 7, "Return")
        me.see("label", "Invite")
        for key in ("Tab", "Tab", "Down", "Down", "End", "Tab", "Tab", "Up", "shift+Tab", "shift+Tab"):
            self.press(key)
            self.it.reaches_invite |= any(node.get_name() == "Invite" for node, _ in person.all_of(me.focused()))
        me.picture("dino-invite.png")

    def are_three(self, before):
        self.it.keys_to_group = self.it.keys_to_enter + self.it.keys - before
        for guest in (self.juliet, self.nurse):
            self.person.wait("three in the group", lambda: len(guest.client["xep_0045"].get_roster(self.room)) == 3)
        self.quiet()

    def hears_group(self):
        for guest, text in zip((self.juliet, self.juliet, self.nurse), IN_GROUP):
            self.comes(text, lambda: guest.say_in(self.room, text))

    # Doing and hearing

    def send(self, it):
        self.type(OWN)
        self.press("Return")
        self.juliet.wait_for(OWN)
        it.keys_to_sent = it.keys
        self.juliet.received.clear()

    def answers(self, to):
        for text in ANSWERS:
            self.comes(text, lambda: self.juliet.say(to, text))

    def comes(self, text, send):
        before = len(self.spoken())
        send()
        self.person.see(".*", f".*{text}.*")
        time.sleep(3)  # so that each is for itself
        self.quiet()
        self.it.times[text] = len([line for line in self.said(before) if text in line])

    def walk(self, *keys):
        before = len(self.spoken())
        for key in keys:
            self.press(key)
        for line in self.said(before):
            if not CONVERSATION.fullmatch(line):
                self.it.read += [text for text in (OWN, *ANSWERS) if text in line and text not in self.it.read]
        self.person.picture(f"heard-{self.person.name}.png")

    def type(self, text):
        self.person.type(text)
        self.quiet()

    def press(self, key, label=None):
        self.it.keys += 1
        self.arrive(key, lambda: self.hears(lambda: self.person.key(key)), label)

    def press_all(self, *keys):
        for key in keys:
            self.press(key)

    def arrive(self, what, do, label=None):
        """Does something. Where the focus moves, that is a stop; `label` is what one sees there, for not every move is told to Orca."""
        before, place = len(self.spoken()), len(self.text())
        do()
        self.quiet()
        said = self.said(before)
        line = " ".join(said)
        focused = re.findall(r"EVENT MANAGER: object:state-changed:focused for \[(.*?)\] in .*\(1, 0, 0\)", self.text()[place:])
        self.say(f"{self.it.name}, {what}: {line or '(nothing)'}" + (f"    [{label or focused[-1]}]" if label or focused else ""))
        if not focused and not label:
            return
        self.it.stops += 1
        if CLASS.search(line):
            self.it.classes.append(f"{what}: {line}")
        elif not said or label and label not in line:
            self.it.silent.append(f"{what}: {label or focused[-1]}")
        elif all(ROLE_ALONE.fullmatch(part) for part in said):
            self.it.unnamed.append(f"{what}: {line}")

    def table(self, *those):
        rows = [("focus stops", lambda it: it.stops), ("of these not spoken", lambda it: len(it.silent)),
                ("of these spoken as a role alone", lambda it: len(it.unnamed)), ("of these spoken with a class name", lambda it: len(it.classes)),
                ("utterances with a class name", lambda it: it.spoken_classes),
                ("arriving messages spoken once, of 3", lambda it: sum(it.times[text] == 1 for text in ANSWERS)),
                ("arriving messages in the group spoken once, of 3", lambda it: sum(it.times[text] == 1 for text in IN_GROUP)),
                ("keys from the start to a sent message, besides the texts", lambda it: it.keys_to_sent),
                ("keys from the start to a group of three, besides the texts", lambda it: it.keys_to_group),
                ("others who need not be told an address", lambda it: 2 if it.reaches_invite else 0),
                ("messages of 4 that can be read by keyboard", lambda it: len(it.read))]
        lines = ["| | " + " | ".join(it.name for it in those) + " |", "|---" * (len(those) + 1) + "|"]
        lines += [f"| {name} | " + " | ".join(str(value(it)) for it in those) + " |" for name, value in rows]
        for it in those:
            for what, faults in (("not spoken", it.silent), ("a role alone", it.unnamed), ("a class", it.classes)):
                lines += [f"{it.name}, {what}: {fault}" for fault in faults]
        print("\n".join(lines), flush=True)
