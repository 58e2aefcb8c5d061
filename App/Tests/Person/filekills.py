"""A hundred pictures and videos are dropped and pasted while the app and the process without a window are killed and the line is
cut: each is once and whole at the recipient. Before that, a second process sees the progress of a file, stops it, and sees it go
on.

    stage PROGRAM files-kills     KILLS=50 CUTS=30 FILES=100 SEED=41
"""
import collections
import hashlib
import json
import os
import pathlib
import random
import re
import ssl
import struct
import subprocess
import threading
import time
import urllib.request
import zlib

import hand
import line
import notices
import person

KILLS, CUTS, FILES = (int(os.environ.get(name, usual)) for name, usual in (("KILLS", 50), ("CUTS", 30), ("FILES", 100)))
#: Bytes a second of the line.
RATE = 500_000
#: The seconds within which a file is accepted, on a busy machine.
ACCEPTED = 5


def picture(chance, size):
    """A PNG of about so many bytes."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    side = max(4, int((size / 3) ** 0.5))
    data = zlib.compress(b"".join(b"\0" + chance.randbytes(3 * side) for _ in range(side)), 1)
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def video(chance, size):
    return struct.pack(">I", 24) + b"ftypisom\0\0\2\0isomiso2" + struct.pack(">I", size + 8) + b"mdat" + chance.randbytes(size)


class FilesKills(notices.Stage):
    def run(self):
        self.random = random.Random(int(os.environ.get("SEED", "41")))
        self.killed_at = None
        self.figures, self.faults, self.texts = collections.Counter(), [], collections.Counter()
        self.line = line.Line()
        self.juliet, = self.begin("juliet")
        self.line.begin(self.server)
        self.hand = hand.Hand()
        self.prepare(notices.KINDS[0])
        try:
            self.log_in(port=self.line.port)
            with open(self.data + "/app.background", "w") as file:
                file.write("yes\n")
            self.kalij("send", "juliet@localhost", "Good morrow")
            self.make(FILES)
            self.seen_by_a_second_process()
            self.killed_and_cut()
            self.judge()
        finally:
            self.desktop.end()
            self.hand.end()
            self.line.end()
            owner = self.owner()
            owner and owner.kill()
        self.warnings()

    def make(self, count):
        """Files by name, and what has become of each."""
        folder = pathlib.Path(self.stage) / "files"
        folder.mkdir()
        self.paths, self.sums = {}, {}
        for number in range(count):
            size = int(10 ** self.random.uniform(3.3, 5.2 if number % 5 else 6.3))
            kind = self.random.choice(("png", "png", "mp4", "webm"))
            self.add(folder / f"shot-{number:03}.{kind}", size)

    def add(self, path, size):
        body = picture(self.random, size) if path.suffix == ".png" else video(self.random, size)
        path.write_bytes(body)
        self.paths[path.name], self.sums[path.name] = path, hashlib.sha256(body).hexdigest()
        return path

    def fault(self, words):
        self.faults.append(words)
        self.say(f"FAULT: {words}")

    def open(self):
        self.start()
        self.person.wait_row("Conversations", "juliet@localhost.*")
        if not self.person.sees("text", person.MESSAGE):
            self.person.select("Conversations", "juliet@localhost.*")
            self.person.key("Return")
        self.person.wait_focus("text", person.MESSAGE)

    # Hands

    def attach(self, names):
        """Drops or pastes files, and waits until the composer has them."""
        paths = [self.paths[name] for name in names]
        is_dropped = self.random.random() < 0.5
        self.figures["drops" if is_dropped else "pastes"] += 1
        for attempt in range(4):
            if is_dropped:
                self.hand.drag(paths, 600, 300, lambda: not self.killed_at)
            else:
                self.hand.copy(paths)
                self.person.key("ctrl+v")
            try:
                for name in names:
                    self.person.see("push button", "Remove " + re.escape(name), 5)
                return
            except person.Lost:
                # A busy machine: the window has no focus yet, or has answered the drag too late.
                if self.killed_at or attempt == 3:
                    raise
                self.figures["attached again"] += 1

    def row(self, name):
        """The words of a file's row after its name."""
        found = [row for row in self.person.rows("Messages") if re.match(rf"You, .*{re.escape(name)}\W", row)]
        return found[0].split(name, 1)[1] if len(found) == 1 else None

    def wait_words(self, name, words, seconds=person.PATIENCE):
        """Waits until the row of a file has these words."""
        def look():
            row = self.row(name)
            return row if row is not None and re.search(words, row) else None
        return self.person.wait(f"{words!r} in the row of {name}, which is {self.row(name)!r}", look, seconds)

    # What a second process says

    def listed(self):
        """The uploads by the name of their file, as `kalij uploads` lists them; a file that was cancelled is in no list."""
        words = [os.environ["KALIJ_BINARY"], "--data", self.data, "--json", "uploads"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        if done.returncode not in (0, 1):
            raise person.Lost("kalij uploads: " + done.stderr)
        return {upload["file_name"]: upload for upload in map(json.loads, done.stdout.splitlines())}

    def accepted(self):
        """The names of all files that were accepted."""
        names = set(self.listed())
        return names | {name for name, in self.rows("SELECT name FROM attachment")}

    def wait_listed(self, name, look, what):
        """Waits for what `kalij uploads` says of a file; None if it is on its way no more."""
        def asked():
            return look(self.listed().get(name))
        return self.person.wait(f"{what} of {name} in `kalij uploads`", asked, 60)

    # Progress, stop and go on, in two processes

    def seen_by_a_second_process(self):
        self.line.do("rate 100000")
        driver = self.drive()
        try:
            self.open()
            self.person.see("label", "Another program keeps your accounts online")
            name = self.begun("second.mp4", 1_500_000)
            first = self.risen(name)
            self.stop_and_go_on(name, lambda: self.person.press("Stop"), lambda: self.person.press("Go on"))
            second = self.risen(name)
            self.say(f"`kalij run` uploads, the app displays it: {first}, stopped, went on, {second} percent")
        finally:
            driver.kill()
            driver.wait()
        self.person.gone("label", "Another program.*")
        third = self.risen(name)
        upload = self.listed()[name]["origin_id"]
        self.stop_and_go_on(name, lambda: self.kalij("uploads", "pause", upload), lambda: self.person.press("Go on"))
        self.say(f"`kalij run` was killed, the app uploads: {third} percent; `kalij uploads pause` stops it, the app goes on")
        self.stop_and_go_on(name, lambda: self.person.press("Stop"), lambda: self.kalij("uploads", "retry", upload), kill=True)
        self.say("stopped in the app, killed, still stopped; `kalij uploads retry` goes on: " + f"{self.risen(name)} percent")
        self.line.do("rate 0")
        self.wait_words(name, "Sent|Delivered", 60)
        self.wait_listed(name, lambda upload: upload is None, "the end")
        self.person.kill()

    def begun(self, name, size):
        self.add(pathlib.Path(self.stage) / "files" / name, size)
        self.attach([name])
        self.person.key("Return")
        self.wait_words(name, "Uploading")
        return name

    def risen(self, name, steps=3):
        """The percents that the app displays, until they have risen so often."""
        seen = []

        def look():
            found = re.search(r"Uploading, (\d+) percent", self.row(name) or "")
            if found and (not seen or int(found[1]) != seen[-1]):
                if seen and int(found[1]) < seen[-1]:
                    seen.clear()  # begun again after a kill
                seen.append(int(found[1]))
            return len(seen) > steps
        self.person.wait(f"rising percents of {name}, seen {seen}", look, 30)
        if (self.listed().get(name) or {}).get("transfer") not in ("putting", "sealed"):
            raise person.Lost(f"{self.listed()} while percents rise")
        return seen

    def stop_and_go_on(self, name, stop, go_on, kill=False):
        stop()
        self.wait_words(name, "Stopped")
        self.wait_listed(name, lambda upload: upload["reason"].startswith("paused"), "paused")
        self.person.wait("no byte leaves", lambda: self.line.sent() == 0, 5)
        if kill:
            self.person.kill()
            self.open()
            self.wait_words(name, "Stopped")
        opened = self.line.count("open")
        time.sleep(1)  # for bytes that should not leave
        if self.line.sent():
            raise person.Lost("bytes of a stopped file leave")
        self.person.picture("stopped.png")
        go_on()
        self.wait_words(name, "Uploading")
        self.person.wait("a connection for the file", lambda: self.line.count("open") > opened)

    # Kills and cuts

    def killed_and_cut(self):
        self.line.do(f"rate {RATE}")
        left = [name for name in self.paths if name.startswith("shot")]
        cuts = sorted(self.random.sample(range(KILLS), min(CUTS, KILLS)))
        self.plan = 0
        begun = time.monotonic()
        self.open()
        for self.round in range(KILLS):
            count = min(len(left), -(-len(left) // (KILLS - self.round)) + self.random.choice((0, 0, 1)))
            timers = [self.later(self.random.uniform(0.2, 3), self.cut)] if self.round in cuts else []
            self.live(left[:count])
            for timer in timers:
                timer.join()
            left = self.missing + left[count:]
            if (self.round + 1) % 10 == 0:
                self.say(f"{self.round + 1} kills: {dict(self.figures)}, {len(left)} files left, {self.closed()} cuts")
        self.killed_at = None
        while left:
            self.send(left[:3])
            self.person.wait("all are accepted", lambda: self.accepted().issuperset(left[:3]))
            self.find(left[:3])
            self.check(left[:3])
            left = left[3:]
        while self.closed() < CUTS:
            self.cut(whole=True)
        self.seconds = time.monotonic() - begun

    def later(self, seconds, act):
        timer = threading.Timer(seconds, act)
        timer.start()
        return timer

    def closed(self):
        """How often the line was cut."""
        return self.figures["cuts of the whole line"] + self.line.count("cut")

    def cut(self, whole=False):
        """Cuts the whole line, or the next connection for a file after some bytes, or before its answer."""
        if whole or self.plan > self.line.count("cut") or self.random.random() < 0.4:
            self.line.do("close")
            time.sleep(self.random.uniform(0.1, 2))
            self.line.do("open")
            self.figures["cuts of the whole line"] += 1
            return
        manner, word = self.random.choice(("reset", "end", "silence")), self.random.choice(("cut", "cut", "answer"))
        count = int(10 ** self.random.uniform(3, 5.5)) if word == "cut" else self.random.choice((100, 2000, 20_000))
        self.line.do(f"{word} {count} {manner} {self.random.uniform(0.2, 2):.2f}")
        self.plan += 1

    def live(self, names):
        """Sends files, and is killed."""
        self.killed_at = None
        kind = self.random.choice(("attaching", "sending", "sending", "uploading", "uploading", "without a window"))
        timer = self.later(self.random.uniform(0.1, 1), self.strike) if kind == "attaching" else None
        try:
            self.send(names, self.random.uniform(0, 0.15) if kind == "sending" else None)
            if not timer and not self.killed_at:
                time.sleep(self.random.uniform(0, 2))
        except (person.Lost, subprocess.SubprocessError):
            # The app may be dead, and then it has no buttons.
            if not self.killed_at and not timer:
                raise
        if timer:
            timer.join()
        elif not self.killed_at:
            self.strike()
        self.person.program.wait(timeout=20)
        self.figures[kind] += 1
        if kind == "without a window":
            self.without()
        self.find(names)
        self.open()
        self.check(names)

    def strike(self):
        self.killed_at = time.monotonic()
        self.person.program.kill()

    def without(self):
        """The process without a window goes on, and is killed, too."""
        self.start_background()
        found = self.owner()
        time.sleep(self.random.uniform(0.1, 2))
        found.kill()
        found.wait()

    def send(self, names, until=None):
        """Attaches files, writes, and sends; `until` is when the app is killed after Return."""
        self.text, self.sent_at = "", None
        if not names:
            return
        me = self.person
        self.attach(names)
        me.wait_focus("text", person.MESSAGE)
        if self.random.random() < 0.4:
            self.text = f"text of {names[-1][:8]}"
            me.type(self.text)
        me.key("Return")
        self.sent_at = time.monotonic()
        if until is not None:
            time.sleep(until)
            return self.strike()
        me.wait("an empty composer", lambda: not me.sees("push button", "Remove .*"))

    def find(self, names):
        """Which files were accepted before the kill; the others are sent again."""
        accepted = self.accepted()
        self.missing = [name for name in names if name not in accepted]
        self.figures["accepted after a kill"] += len(names) - len(self.missing)
        self.figures["not accepted"] += len(self.missing)
        if self.missing and self.sent_at and self.killed_at - self.sent_at > ACCEPTED:
            self.fault(f"{self.missing} was entered {self.killed_at - self.sent_at:.1f} s before the kill, and was not accepted")
        if names and self.text and not self.missing:
            self.texts[self.text] += 1

    def check(self, names):
        """The app displays each accepted file once; a text whose file was accepted is no draft any more."""
        me = self.person
        for name in names:
            if name not in self.missing:
                self.wait_words(name, "")
        shown = collections.Counter(found[0] for row in me.rows("Messages") if (found := re.search(r"shot-\d+\.\w+", row)))
        twice = [name for name, count in shown.items() if count > 1]
        if twice:
            self.fault(f"round {self.round}: {twice} is displayed more than once")
        field = next(me.fields(person.MESSAGE))
        draft = me.text(field)
        if draft and self.text and not self.missing:
            self.fault(f"round {self.round}: the draft is {draft!r}, whose file was accepted")
        if draft:
            me.enter(person.MESSAGE, "")

    # The end

    def are_sent(self):
        """All rows in sight and around say that their file is sent."""
        rows = [row for row in self.person.rows("Messages") if "shot-" in row]
        return rows and all(re.search(r"\. (Sent|Delivered)$", row) for row in rows)

    def judge(self):
        waited = time.monotonic()
        try:
            self.person.wait("the end of all uploads", lambda: not self.listed(), 300)
        except person.Lost:
            raise person.Lost(f"on their way: {self.listed()}")
        waited = time.monotonic() - waited
        me = self.person
        me.wait("all rows say so", self.are_sent, 60)
        me.picture("all-sent.png")
        wanted = collections.Counter(self.sums.values())
        bodies = self.juliet.archive()
        trust = ssl.create_default_context(cafile=str(self.server.certificate))
        found = collections.Counter()
        for body in bodies:
            if body.startswith("https://"):
                found[hashlib.sha256(urllib.request.urlopen(body, context=trust, timeout=20).read()).hexdigest()] += 1
        texts = collections.Counter(body for body in bodies if body.startswith("text of"))
        size = sum(path.stat().st_size for path in self.paths.values()) / 1e6
        self.say(f"{len(wanted)} files of {size:.0f} MB, {KILLS} rounds and "
                 f"{self.closed()} cuts ({self.figures['cuts of the whole line']} of the whole line) in {self.seconds:.0f} s: "
                 f"{dict(self.figures)}; the last arrived {waited:.0f} s later")
        lost, more = wanted - found, found - wanted
        self.say(f"at the recipient: {len(lost)} files lost or damaged, {sum(more.values())} twice or unknown; "
                 f"{sum(texts.values())} of {sum(self.texts.values())} texts")
        names = {total: name for name, total in self.sums.items()}
        if lost or more or texts != self.texts or self.faults:
            raise person.Lost(f"lost {[names[total] for total in lost]}, more {[names.get(total) for total in more]}, "
                              f"texts lost {self.texts - texts}, more {texts - self.texts}; faults:\n" + "\n".join(self.faults))
