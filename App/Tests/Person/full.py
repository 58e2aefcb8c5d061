"""The disk fills while the app runs: the app says so, keeps the text, and goes on when there is room again.

    stage PROGRAM full
"""
import os
import subprocess

import person
import tour
from person import Atspi


class Full(tour.Stage):
    def run(self):
        juliet, = self.begin("juliet")
        os.makedirs(self.data, exist_ok=True)
        person.unshare()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", self.data], check=True, timeout=20)
        self.log_in()
        self.start()
        me = self.person
        me.see("label", "No conversations yet")
        juliet.say("romeo@localhost", "While there is room")
        self.open("juliet")
        self.fill()
        juliet.say("romeo@localhost", "While there is none")
        me.see("label", "Nothing can be stored, so nothing is received: the disk is full")
        me.type("Written on a full disk")
        me.key("Return")
        me.see("label", "Not accepted: the disk is full")
        self.holds("Written on a full disk")
        me.picture("full.png")
        self.say("a full disk is said, and the text stays in the composer")
        os.remove(self.data + "/filler")
        me.see("list item", ".*While there is none.*")
        me.wait("the banner goes", lambda: not list(me.nodes("label", "Nothing can be stored.*")))
        self.holds("Written on a full disk")
        me.key("Return")
        self.reads(juliet, "Written on a full disk")
        self.say("with room again, what was missed comes, and the text leaves once")
        self.person.end()
        self.warnings()

    def holds(self, text):
        entry = self.person.see("text", person.MESSAGE)
        self.person.wait("the text in the composer", lambda: Atspi.Text.get_text(entry, 0, -1) == text)

    def reads(self, juliet, text):
        with juliet.changed:
            if not juliet.changed.wait_for(lambda: text in juliet.received, 20):
                raise person.Lost("juliet has not: " + text)
        if juliet.received.count(text) != 1:
            raise person.Lost(f"juliet has {juliet.received}")

    def fill(self):
        with open(self.data + "/filler", "wb", buffering=0) as file:
            try:
                while file.write(b"\0" * 4096):
                    pass
            except OSError:
                return
