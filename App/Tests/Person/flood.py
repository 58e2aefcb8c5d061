"""300 messages a second into the open conversation: for how long the app answers no key meanwhile, how often the picture changes, and whether
all messages came, once."""
import os
import pathlib
import re
import subprocess
import threading
import time

import person
import targets
import tour

RATE, SECONDS = 300, int(os.environ.get("FLOOD_SECONDS", "10"))


class Flood(tour.Stage):
    def run(self):
        juliet, me = self.open(), self.person
        me.wait_focus("text", person.MESSAGE)
        time.sleep(1)
        screen = targets.Screen(os.environ["SCREEN_FOLDER"])
        cpu, memory = self.cpu(), self.memory()
        before = len(self.stretches())
        thread = threading.Thread(target=self.pour, args=(juliet,), daemon=True)
        thread.start()
        changes, last = [], None
        begun = time.monotonic()
        while thread.is_alive():
            now = screen.rows()
            if now != last:
                changes.append(time.monotonic())
                last = now
            time.sleep(0.004)
        gaps = sorted(1000 * (b - a) for a, b in zip(changes[1:], changes[2:]))
        self.say(f"{RATE} messages a second for {time.monotonic() - begun:.0f} s: {len(gaps)} pictures; between two: median "
                 f"{gaps[len(gaps) // 2]:.0f} ms, 99 % within {gaps[int(len(gaps) * 0.99)]:.0f} ms, at most {gaps[-1]:.0f} ms")
        time.sleep(1)
        self.say(f"{self.cpu() - cpu} ms of CPU for {RATE * SECONDS} messages")
        for words, busy in zip(("busy", "on a processor"), zip(*self.stretches()[before:])):
            busy = sorted(busy)
            self.say(f"the main loop is {words} for {sum(busy):.0f} ms; at a time: 90 % {busy[int(len(busy) * 0.9)]:.0f} ms, 99 % "
                     f"{busy[int(len(busy) * 0.99)]:.0f} ms, at most {busy[-1]:.0f} ms of {len(busy)}")
        me.wait_row("Messages", rf".*: message {RATE * SECONDS - 1}\b.*", 60 + SECONDS)
        self.say(f"own memory {memory} MB before, {self.memory()} MB after")
        found = self.history(RATE * SECONDS)
        if found != list(range(RATE * SECONDS)):
            raise person.Lost(f"{len(found)} of {RATE * SECONDS} messages, or not in order")
        me.end()
        self.warnings()

    def open(self):
        """The app shows the conversation with juliet, who is returned."""
        juliet, = self.begin("juliet")
        self.log_in()
        self.kalij("send", "juliet@localhost", "Good morrow")
        self.start_watched()
        self.person.select("Conversations", r"juliet@localhost, .*")
        self.person.key("Return")
        self.person.wait_row("Messages", r"You, .*Good morrow.*")
        return juliet

    def start_watched(self):
        source, library = pathlib.Path(__file__).with_name("stretches.c"), self.stage + "/stretches.so"
        subprocess.run(["cc", "-O", "-shared", "-fPIC", "-o", library, source], check=True)
        self.start(LD_PRELOAD=library, STRETCHES=self.stage + "/stretches")

    def stretches(self):
        """How long the main loop was busy each time, and on a processor meanwhile, in milliseconds."""
        return [[int(word) / 1000 for word in line.split()] for line in open(self.stage + "/stretches").read().split("\n")[:-1]]

    def pour(self, juliet):
        begun, sent = time.monotonic(), 0
        while sent < RATE * SECONDS:
            due = min(RATE * SECONDS, int((time.monotonic() - begun) * RATE))
            if due > sent:
                juliet.say("romeo@localhost", *(f"message {n} of a flood" for n in range(sent, due)))
                sent = due
            time.sleep(0.01)

    def history(self, count):
        told = self.kalij("history", "juliet@localhost", "--limit", str(count + 10), "--json")
        return [int(n) for n in re.findall(r'"body":"message (\d+)', told)]

    def memory(self):
        return int(re.search(r"RssAnon:\s+(\d+)", open(f"/proc/{self.person.program.pid}/status").read())[1]) // 1024


class Texts(Flood):
    """Texts and a name that are to hurt or to lie, one after the other into the open conversation: for how long the app answers no key, and
    what the rows say."""

    #: Nothing may stop the app for longer, in milliseconds.
    LONGEST = 100
    TEXTS = {
        "10 MB": "x" * (10_000_000 - 10_000), "an emoji": "\U0001F600", "10,000 emoji": "\U0001F469\u200D\U0001F680" * 10_000,
        "10,000 lines": "line\n" * 10_000, "10,000 marks": "Z" + "\u0335\u0311\u0321" * 10_000, "markup": "<b>bold</b> & <span size='99999'>",
        "a turned direction": "\u202eevil\u2066 direction", "a row of the user's": "\nYou, 10:00: I agree. Read"}

    def run(self):
        juliet, me = self.open(), self.person
        self.kalij("add", "juliet@localhost", "--name", "You\u202e, 10:00: <b>X</b>")
        time.sleep(1)
        worst = {}
        for number, (what, text) in enumerate(self.TEXTS.items()):
            before = len(self.stretches())
            juliet.say("romeo@localhost", text, f"after {number}")
            me.wait_row("Messages", rf".*: after {number}", 90)
            time.sleep(1)
            worst[what] = max(used for _, used in self.stretches()[before:])
            self.say(f"{what}: the main loop at a time at most {worst[what]:.0f} ms on a processor")
            me.picture(f"texts-{number}.png")
        rows = [row for row in me.rows("Messages") if row != "Today"]
        lying = [row[:80] for row in rows if row.startswith("You, ") and "Good morrow" not in row or re.search("[\u202a-\u202e\u2066-\u2069]", row)]
        self.say(f"the names of the rows begin with: {sorted({re.split(', |: ', row)[0] for row in rows})}; the longest has {max(map(len, rows))} characters")
        if lying or max(map(len, rows)) > 10_000:
            raise person.Lost(f"rows that lie: {lying}")
        if max(worst.values()) > self.LONGEST:
            raise person.Lost(f"the app answers no key for longer than {self.LONGEST} ms: {worst}")
        me.end()
        self.warnings()


class Arrivals(Flood):
    """An hour of messages into the open conversation: the app's own memory each minute. LIMIT=4000 ARRIVALS_SECONDS=3600 stage PROGRAM arrivals"""

    PACE, FOR = int(os.environ.get("ARRIVALS_PACE", "3")), int(os.environ.get("ARRIVALS_SECONDS", "120"))

    def run(self):
        juliet, me = self.open(), self.person
        cpu, begun, sent, told = self.cpu(), time.monotonic(), 0, []
        while sent < self.PACE * self.FOR:
            time.sleep(max(0, begun + sent / self.PACE - time.monotonic()))
            juliet.say("romeo@localhost", f"message {sent} of many, with some words that take a line or two of the window's width")
            sent += 1
            if sent % (60 * self.PACE) == 0:
                told.append(self.memory())
                print(f"    {sent} messages: {told[-1]} MB", flush=True)
        me.wait_row("Messages", rf".*: message {sent - 1}\b.*", 60)
        used = self.cpu() - cpu
        if self.history(sent) != list(range(sent)):
            raise person.Lost("messages are missing, or not in order")
        early = told[min(4, len(told) - 1)]
        self.say(f"{sent} messages in {self.FOR / 60:.0f} minutes: own memory {early} MB after {min(5, len(told))} minutes, "
                 f"{told[-1]} MB at the end, {max(told)} MB at most; {used / sent:.1f} ms of CPU a message")
        if told[-1] > 1.1 * early + 2:
            raise person.Lost("the memory grows")
        me.end()
        self.warnings()
