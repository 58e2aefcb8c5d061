"""What the rows claim, on bad lines: the server is frozen, ended, cut off, deaf in one direction, and slow (32 kbit/s, half a
second). All the time, the words of each row are compared with the server's archive and with what the recipient's client has.

    stage PROGRAM states          STAGES="frozen slow": some of the stages alone; KEEP=DIR keeps a picture of each
"""
import collections
import hashlib
import os
import pathlib
import random
import re
import signal
import sqlite3
import ssl
import time
import urllib.request

import filekills
import hand
import line
import person
import server as servers
import tour

#: A row claims at least what its word stands for here.
CLAIMS = {"Sent": 1, "Delivered": 2, "Read": 3}
#: 32 kbit/s, and half a second for a round trip.
SLOW = ("rate 4000", "delay 0.5")
#: Bytes that a row may count before the line has taken them: buffers of the app's connection and of the line.
BUFFERS = 64 << 10
NAMES = ("online", "frozen", "ended", "cut", "deaf", "broken", "slow", "lossy")


class States(tour.Stage):
    def run(self):
        self.random = random.Random(int(os.environ.get("SEED", "41")))
        self.line = line.Line()
        self.juliets = self.begin("juliet")
        self.line.begin(self.server)
        self.hand = hand.Hand()
        self.folder = pathlib.Path(self.stage) / "files"
        self.folder.mkdir()
        self.trust = ssl.create_default_context(cafile=str(self.server.certificate))
        #: What was written: the text, or the name of the file; and the size of a file.
        self.items, self.sums, self.displayed = {}, {}, set()
        self.seen, self.behind, self.faults, self.lead = collections.Counter(), collections.Counter(), [], 0
        try:
            self.log_in(port=self.line.port)
            self.kalij("send", "juliet@localhost", "Good morrow")
            self.start()
            self.person.select("Conversations", "juliet@localhost.*")
            self.person.key("Return")
            self.person.wait_focus("text", person.MESSAGE)
            for name in os.environ.get("STAGES", " ".join(NAMES)).split():
                self.name, self.pictures = name, 0
                getattr(self, name)()
                self.settle()
                self.photograph()
        finally:
            self.hand.end()
            self.line.end()
        self.person.end()
        self.warnings()
        self.say(f"{sum(self.seen.values())} words compared: {dict(self.seen)}; behind the archive or the recipient: "
                 f"{dict(self.behind)}; a row was at most {self.lead} bytes before the line")
        if self.faults:
            raise person.Lost("\n".join(self.faults))

    # What there is

    @property
    def process(self):
        return getattr(self.server, "server", self.server).process

    def archive(self):
        """All stanzas of the server's archive, as it is on the disk: the server may be frozen."""
        folder = getattr(self.server, "server", self.server).folder
        database = sqlite3.connect(f"file:{folder}/archive.sqlite?mode=ro", uri=True, timeout=10)
        try:
            is_prosody = isinstance(self.server, servers.Server)
            query = "SELECT value FROM prosodyarchive" if is_prosody else "SELECT xml FROM archive"
            return "\n".join(text for text, in database.execute(query))
        except sqlite3.OperationalError:
            return ""  # no table yet
        finally:
            database.close()

    def is_in(self, archive, item):
        return f"/{item}<" in archive if self.items[item] else f">{item}<" in archive

    def is_received(self, item):
        bodies = [body for other in self.juliets for body in list(other.received)]
        return any(body == item or self.items[item] and body.endswith("/" + item) for body in bodies)

    def truth(self, item, archive):
        """What a row may claim at most."""
        if item in self.displayed:
            return "Read"
        if self.is_received(item):
            return "Delivered"
        return "Sent" if self.is_in(archive, item) else "Waiting"

    def words(self, rows, item):
        """The state in the row of an item: its last sentence."""
        found = [row for row in rows if re.match(rf"You, \d\d:\d\d: (\w+ )?{re.escape(item)}\. ", row)]
        if len(found) != 1:
            return None
        return found[0].split(item + ". ", 1)[1].split(", ", 1)[-1] if self.items[item] else found[0].rsplit(item + ". ", 1)[1]

    # Comparing

    def compare(self):
        """Each row claims no more than what the archive and the recipient have; `Waiting` is never said of what is archived."""
        before = self.archive()
        rows = self.person.rows("Messages")
        taken = self.line.sent()
        after = self.archive()
        for item, size in self.items.items():
            words = self.words(rows, item)
            if words is None:
                # A row that is replaced while the tree is read.
                if self.words(self.person.rows("Messages"), item) is None:
                    self.fault(f"no single row of {item!r}: {rows[-6:]}")
                continue
            state = words.rsplit(". ", 1)[-1]
            self.seen[re.sub(r"\d+", "N", state)] += 1
            truth = self.truth(item, after)
            if CLAIMS.get(state, 0) > CLAIMS.get(truth, 0):
                self.fault(f"{item!r} is {state!r}, and in truth {truth!r}")
            if CLAIMS.get(state, 0) < CLAIMS.get(self.truth(item, before), 0):
                self.behind[f"{state.split(':')[0].split(',')[0]} of what is {truth}"] += 1
                # A file may be archived before its upload is known to have ended.
                if state.startswith("Waiting") and item.endswith("text"):
                    self.fault(f"{item!r} is {state!r}, and is archived")
            percent = re.search(r"Uploading, (\d+) percent", state)
            if percent:
                lead = int(percent[1]) * size // 100 - taken
                if os.environ.get("LEADS"):
                    self.say(f"{self.name}: {state}, {lead} bytes before the line")
                self.lead = max(self.lead, lead)
                if lead > BUFFERS:
                    self.fault(f"{item!r} is {state!r} of {size}, and the line has {taken}")
        return rows

    def fault(self, words):
        words = f"{self.name}: {words}"
        if re.sub(r"\d+", "", words) not in [re.sub(r"\d+", "", known) for known in self.faults]:
            self.faults.append(words)
            self.say("FAULT: " + words)
            self.person.picture(f"{self.name}-fault-{len(self.faults)}.png")

    def watch(self, what, look, seconds=60):
        """Compares until `look` finds what it waits for in the rows."""
        def compared():
            rows = self.compare()
            return look(rows)
        return self.person.wait(what, compared, seconds)

    def stays(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.compare()
            time.sleep(0.2)

    def becomes(self, item, words, seconds=60):
        return self.watch(f"{item!r} becomes {words!r}", lambda rows: re.search(words, self.words(rows, item) or ""), seconds)

    def photograph(self):
        """A picture, between two comparisons."""
        self.compare()
        self.pictures += 1
        self.person.picture(f"{self.name}-{self.pictures}.png")
        rows = self.compare()
        archive = self.archive()
        shown = [f"{item}: {self.words(rows, item)} ({self.truth(item, archive)})" for item in list(self.items)[-4:]]
        self.say(f"{self.name}-{self.pictures}.png: " + "; ".join(shown))

    def settle(self):
        """Everything is there, and each row equals what the archive and the recipient's client say."""
        def is_equal(rows):
            archive = self.archive()
            return all((self.words(rows, item) or "").endswith(self.truth(item, archive)) and self.is_in(archive, item)
                       for item in self.items)
        begun = time.monotonic()
        self.watch(f"{self.name}: each row equals the archive and the recipient", is_equal, 180)
        bodies = self.juliets[-1].archive()
        for item, size in self.items.items():
            found = [body for body in bodies if body == item or size and body.endswith("/" + item)]
            if len(found) != 1:
                self.fault(f"{item!r} is {len(found)} times in the recipient's archive")
            elif size:
                body = urllib.request.urlopen(found[0], context=self.trust, timeout=60).read()
                if hashlib.sha256(body).hexdigest() != self.sums[item]:
                    self.fault(f"{item!r} is not whole")
        self.say(f"{self.name}: all {len(self.items)} rows equal the archive, {time.monotonic() - begun:.1f} s later")

    # Hands

    def write(self, text):
        self.items[text] = 0
        self.person.wait_focus("text", person.MESSAGE)
        self.person.type(text)
        self.person.key("Return")
        self.person.wait(f"the row of {text}", lambda: self.words(self.person.rows("Messages"), text))
        return text

    def drop(self, name, size):
        body = filekills.video(self.random, size)
        path = self.folder / name
        path.write_bytes(body)
        for _ in range(4):
            self.hand.drag([path], 600, 300)
            try:
                self.person.see("push button", "Remove " + re.escape(name), 5)
                break
            except person.Lost:
                continue  # a busy machine, on which the app has answered too late
        self.person.key("Return")
        self.items[name], self.sums[name] = len(body), hashlib.sha256(body).hexdigest()
        self.person.wait(f"the row of {name}", lambda: self.words(self.person.rows("Messages"), name))
        return name

    def wait_offline(self):
        self.watch("offline", lambda _: self.person.sees("label", "Offline since .*"), 120)

    # The stages

    def online(self):
        text = self.write("online text")
        self.drop("online.mp4", 50_000)
        self.becomes(text, "Delivered")
        self.displayed.add(text)
        self.juliets[-1].display(text)
        self.becomes(text, "Read")

    def frozen(self):
        """The server is stopped (SIGSTOP), and noticed."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            text = self.write("frozen text")
            self.drop("frozen.mp4", 50_000)
            self.becomes(text, "Sending")
            self.stays(3)
            self.photograph()
            begun = time.monotonic()
            self.wait_offline()
            self.say(f"frozen: noticed after {time.monotonic() - begun + 3:.0f} s")
            self.write("frozen and noticed")
            self.stays(1)
            self.photograph()
        finally:
            self.process.send_signal(signal.SIGCONT)

    def ended(self):
        """The server ends (SIGTERM), and starts again."""
        self.server.stop()
        self.wait_offline()
        text = self.write("ended text")
        name = self.drop("ended.mp4", 50_000)
        self.becomes(text, "Waiting: no connection")
        self.becomes(name, "Waiting: no connection")
        self.photograph()
        self.line.do("close")  # the other person is there before the app
        self.server.start()
        self.juliets.append(servers.OtherPerson(self.server, "juliet", "secret-juliet"))
        self.line.do("open")
        self.try_now()

    def try_now(self):
        """Presses *Try now*, unless the app is online by itself before."""
        me = self.person
        me.wait("Try now, or no need of it", lambda: not me.sees("label", "Offline since .*") or any(
            person.Atspi.Action.do_action(node, 0) for node in me.nodes("push button", "Try now")))

    def cut(self):
        self.line.do("close")
        self.wait_offline()
        self.write("cut text")
        name = self.drop("cut.mp4", 50_000)
        self.becomes(name, "Waiting: no connection")
        self.stays(2)
        self.photograph()
        self.line.do("open")
        self.try_now()

    def deaf(self):
        """What is sent arrives, and the server's answers do not; then the connections break."""
        self.line.do("lose down")
        text = self.write("deaf text")
        self.watch("the recipient has it", lambda _: self.is_received(text))
        self.stays(2)
        self.photograph()
        self.line.do("close", "find")
        self.wait_offline()
        self.photograph()
        self.line.do("open")
        self.try_now()

    def broken(self):
        """The line breaks in the middle of a file."""
        self.line.do("rate 100000")
        name = self.drop("broken.mp4", 600_000)
        self.becomes(name, "Uploading, [3-9]. percent")
        self.photograph()
        self.line.do("close")
        self.wait_offline()
        self.write("broken text")
        self.becomes(name, "Waiting: no connection")
        self.photograph()
        self.line.do("open", "rate 0")
        self.try_now()

    def slow(self):
        self.line.do(*SLOW)
        name = self.drop("slow.mp4", 150_000)
        first = self.write("slow text")
        self.photograph()
        self.becomes(name, "Uploading, [2-9]. percent", 120)
        self.becomes(first, "Delivered", 120)
        second = self.write("slow text while a file goes")
        self.photograph()
        self.becomes(second, "Delivered", 120)
        self.photograph()
        self.becomes(name, "Sent|Delivered", 240)
        self.line.do("rate 0", "delay 0")

    def lossy(self):
        """Slow, and cut in the middle; it goes on while the line remains slow."""
        self.line.do(*SLOW)
        name = self.drop("lossy.mp4", 100_000)
        self.watch("the middle of the file", lambda _: self.line.sent() > 40_000, 120)
        text = self.write("lossy text")
        self.line.do("close")
        self.wait_offline()
        self.stays(1)
        self.photograph()
        self.line.do("open")
        self.try_now()
        self.becomes(text, "Delivered", 180)
        self.photograph()
        self.becomes(name, "Sent|Delivered", 240)
        self.line.do("rate 0", "delay 0")
