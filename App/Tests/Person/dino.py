"""The same tour in the app and in Dino, under Orca and on one server, and what was heard of each, as a table."""
import os
import re
import subprocess
import time

import heard
import person

ANSWERS = ("To thee, good morrow", "How camest thou hither", "Dost thou love me")
OWN = "Good morrow"
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
        self.keys = self.keys_to_sent = self.spoken_classes = 0
        self.times, self.read = {}, []


class Beside(heard.Heard):
    def run(self):
        alone(self.stage)
        trust(self.server.certificate)
        self.server.port = 5222
        self.juliet, = self.begin("juliet")
        self.server.register("mercutio", "secret-mercutio")
        ours, dino = Heard("Kalij"), Heard("Dino 0.4.2")
        for tour, it in ((self.in_kalij, ours), (self.in_dino, dino)):
            with self.orca("-" + it.name.split()[0].lower()):
                self.it = it
                self.quiet()
                tour()
                with open(f"{self.stage}/tree-{self.person.name}.log", "w") as file:
                    file.write(self.person.tree())
                it.spoken_classes = len([line for line in self.said(0) if CLASS.search(line)])
                self.person.end()
        self.table(ours, dino)
        twice = [text for text in ANSWERS if ours.times[text] != 1]
        for what, fault in (("unnamed", ours.unnamed), ("silent", ours.silent), ("called by a class", ours.classes),
                            ("not spoken once", twice), ("not to be read", set((OWN, *ANSWERS)) - set(ours.read))):
            if fault:
                raise person.Lost(f"{what}: {fault}")

    def in_kalij(self):
        me, it = self.person, self.it
        self.arrive("start", lambda: (self.start(), me.see("label", "Welcome to Kalij")), "Address")
        self.type("romeo@localhost")
        self.press("Tab", "Password")
        self.type("secret-romeo")
        self.press("Return")
        me.see("label", "No conversations yet")
        self.quiet()
        self.press("ctrl+n")
        me.wait_focus("text|entry", "Address")
        self.type("juliet@localhost")
        self.press("Return")
        me.wait_focus("text", "Message")
        self.send(it)
        self.answers("romeo@localhost")
        self.walk("shift+F6", "Up", "Up", "Up", "Up")
        self.walk("F6", "F6", *["Tab"] * 8)

    def in_dino(self):
        self.enter_dino()
        self.send(self.it)
        self.answers("mercutio@localhost")
        # Out of the composer goes nothing but the search, for Tab writes a tab; Escape after Up, which corrects, leaves the focus on the message.
        self.walk("Page_Up", "shift+F6", "ctrl+f", "ctrl+f", "Escape", *["Tab"] * 6)
        self.walk("ctrl+a", "BackSpace", "Up", "Escape", "Tab", "Down", "Page_Up")

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
        self.press("ctrl+t")
        me.see("dialog", "Start Conversation")
        self.type("juliet@localhost")
        me.see("label", "juliet@localhost")
        self.press("Tab")
        self.press("Return")
        me.gone("dialog", "Start Conversation")
        self.quiet()

    # Doing and hearing

    def send(self, it):
        self.type(OWN)
        self.press("Return")
        self.juliet.wait_for(OWN)
        it.keys_to_sent = it.keys
        self.juliet.received.clear()

    def answers(self, to):
        for text in ANSWERS:
            before = len(self.spoken())
            self.juliet.say(to, text)
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
        self.arrive(key, lambda: self.person.key(key), label)

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
                ("keys from the start to a sent message, besides the texts", lambda it: it.keys_to_sent),
                ("messages of 4 that can be read by keyboard", lambda it: len(it.read))]
        lines = ["| | " + " | ".join(it.name for it in those) + " |", "|---" * (len(those) + 1) + "|"]
        lines += [f"| {name} | " + " | ".join(str(value(it)) for it in those) + " |" for name, value in rows]
        for it in those:
            for what, faults in (("not spoken", it.silent), ("a role alone", it.unnamed), ("a class", it.classes)):
                lines += [f"{it.name}, {what}: {fault}" for fault in faults]
        print("\n".join(lines), flush=True)
