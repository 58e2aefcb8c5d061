"""A person writes, another one answers, and the app is killed at random moments. Nothing is lost, nothing comes twice, and what was open is
open again, where it was left."""
import collections
import os
import random
import re
import sqlite3
import threading
import time

import keys
import person
import scroll
import tour

KILLS, SEED = int(os.environ.get("KILLS", "20")), int(os.environ.get("SEED", "39"))
#: What a kill may cost of a draft: what was typed in the last half second.
SHORT = 0.5
BEFORE = 60


class Kills(tour.Stage):
    def run(self):
        self.random = random.Random(SEED)
        self.keys = keys.Keyboard()
        self.said, self.entered, self.accepted, self.seen_places = 0, [], set(), []
        self.faults, self.figures = [], collections.Counter()
        self.number, self.typed, self.short = 0, [], []
        juliet, = self.begin("juliet")
        self.log_in()
        self.kalij("send", "juliet@localhost", "Good morrow")
        juliet.say("romeo@localhost", *[f"before {n:03}" for n in range(BEFORE)])
        self.start()
        me = self.person
        me.wait_row("Conversations", r"juliet@localhost, .*")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)
        me.wait_row("Messages", f".*before {BEFORE - 1:03}")
        is_over = threading.Event()
        other = threading.Thread(target=self.answer, args=(juliet, is_over), daemon=True)
        other.start()
        begun = time.monotonic()
        self.round = 0
        if os.environ.get("PLACES"):
            self.places()
        for self.round in range(KILLS):
            self.live()
            self.again()
            if (self.round + 1) % 20 == 0:
                self.say(f"{self.round + 1} kills: {dict(self.figures)}, faults: {len(self.faults)}")
        seconds = time.monotonic() - begun
        is_over.set()
        other.join()
        self.finish(juliet)
        self.judge(juliet)
        self.say(f"{KILLS} kills in {seconds:.0f} s, {60 * KILLS / seconds:.1f} a minute: {dict(self.figures)}")
        self.warnings()

    def answer(self, juliet, is_over):
        """The other person, who writes whatever happens."""
        chance = random.Random(SEED + 1)
        while not is_over.is_set():
            juliet.say("romeo@localhost", f"theirs {self.said:05}")
            self.said += 1
            is_over.wait(chance.uniform(0.1, 1.2))

    def fault(self, words):
        self.faults.append(words)
        self.say(f"round {self.round}, FAULT: {words}")

    # A life of the app

    def live(self):
        """Works until the app is killed."""
        self.killed_at, self.place = None, None
        # Sometimes the kill comes right after a Return: there a message is taken, and its draft goes. Sometimes while the person reads.
        kind = 1 if os.environ.get("READING") else self.random.random()
        self.returns = self.random.randrange(1, 4) if kind < 0.35 else 0
        is_reading = kind > 0.85
        after = 30 if self.returns or is_reading else self.random.choice((0.4, 2, 4, 8)) * self.random.random()
        timer = threading.Timer(after, self.strike)
        timer.start()
        try:
            while not self.killed_at:
                if self.place and is_reading:
                    self.strike()
                elif not self.returns and not self.typed and (is_reading or self.random.random() < 0.1):
                    self.scroll()
                else:
                    self.write()
        finally:
            timer.cancel()
            timer.join()
            self.person.program.wait(timeout=20)

    def strike(self):
        # The last moment of which it is certain that the app lived.
        self.killed_at = time.monotonic()
        self.person.program.kill()

    def pause(self, seconds):
        end = time.monotonic() + seconds
        while not self.killed_at and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.02))

    def press(self, key, shift=False):
        """:return: the moment; nil if the app is dead already."""
        if self.killed_at:
            return None
        self.pause(self.random.uniform(0.002, 0.03))
        return None if self.killed_at else self.keys.press(key, shift)

    def write(self):
        """Writes a message, sometimes slowly; looks, sometimes, what has become of it."""
        if self.place:
            self.press("F6")
            self.pause(0.1)
            self.place = None
        if not self.typed:
            self.number += 1
        text = f"mine {self.number:05}"
        for letter in text[len(self.typed):]:
            at = self.press(letter)
            if at is None:
                return
            self.typed.append((at, letter))
            if self.random.random() < 0.04:
                self.pause(0.7)
        if self.random.random() < 0.2:
            self.pause(0.7)
        at = self.press("Return")
        if at is None:
            return
        self.entered.append((text, at))
        self.typed, self.place = [], None
        self.returns -= 1
        if self.returns == 0:
            time.sleep(self.random.choice((0.02, 0.08)) * self.random.random())
            return self.strike()
        if self.random.random() < 0.6:
            self.look(text)

    def look(self, text):
        """Waits until the app has taken the message: there is a row in the list, or in the database, and the composer is empty."""
        end = time.monotonic() + 10
        while not self.killed_at:
            try:
                # An empty field alone may be one whose keys a busy app has not read yet.
                emptied = self.composer() == "" and self.stored(text)
                if emptied or any(f": {text}. " in row for row in self.person.rows("Messages")[-20:]):
                    if not self.killed_at:
                        self.accepted.add(text)
                        self.figures["seen accepted before a kill"] += 1
                    return
            except Exception:  # the app dies while it is asked
                pass
            if not self.killed_at and time.monotonic() > end:
                return self.fault(f"{text!r} is not accepted within 10 s")
            self.pause(0.01)

    def composer(self):
        field = next(self.person.fields(person.MESSAGE), None)
        return None if field is None else self.person.text(field)

    def scroll(self):
        """Reads further up, and rests there."""
        self.press("F6", shift=True)
        for _ in range(self.random.randrange(1, 7)):
            self.press("Page_Up")
        self.pause(0.8)
        try:
            place = self.top()
            self.pause(0.5)
            # At the end the newest messages are followed.
            if place and self.person.sees("push button", "Newest messages") and place == self.top() and not self.killed_at:
                self.place = place
                self.pause(0.3)
        except Exception:
            pass
        if self.place or self.killed_at:
            return
        self.press("F6")
        self.pause(0.1)

    def top(self):
        """The first message in sight."""
        self.person.rows("Messages")
        return next(iter(scroll.Sight(self.person, r"(mine|theirs|before) \d+|Good morrow").now(40)), None)

    def places(self):
        for n in range(6):
            self.keys.press("F6", shift=True)
            for _ in range(n + 1):
                self.keys.press("Page_Up")
            time.sleep(1.5)
            before = self.top()
            kept = open(self.data + "/app.place").read().split()
            self.person.picture(f"a{n}.png")
            self.person.kill()
            self.start()
            self.person.wait_focus("text", person.MESSAGE)
            time.sleep(1.5)
            self.person.picture(f"b{n}.png")
            self.say(f"{n}: {before} -> {self.top()}; {kept} {open(self.data + '/app.place').read().split()}")

    # The next life

    def again(self):
        """Starts the app, and compares what is there with what was there."""
        with open(self.data + "/app.place") as file:
            self.left = file.read().split()
        self.start()
        me = self.person
        if self.random.random() < 0.15:
            time.sleep(self.random.random())  # killed while it starts
            me.kill()
            self.figures["killed while it started"] += 1
            self.start()
        self.figures["killed"] += 1
        me.wait_focus("text", person.MESSAGE)
        rows = me.wait("rows", lambda: me.rows("Messages"))
        self.check_rows(rows)
        self.check_draft()
        self.check_place()

    def check_rows(self, rows):
        bodies = [found[1] for row in rows if (found := re.match(r".*, \d\d:\d\d: ((?:mine|theirs|before) \d+)", row))]
        for body, count in collections.Counter(bodies).items():
            if count > 1:
                self.fault(f"{body!r} is shown {count} times")

    def stored(self, text):
        return self.rows_of("direction = 'out' AND body = ?", text)

    def rows_of(self, condition, *values):
        database = sqlite3.connect(f"file:{self.data}/kalij.db?mode=ro", uri=True)
        try:
            return database.execute(f"SELECT count(*) FROM message WHERE {condition}", values).fetchone()[0]
        finally:
            database.close()

    def check_draft(self):
        """What was typed, less what was typed in the last half second; a message that was sent is no draft any more."""
        draft = self.composer()
        typed = "".join(letter for _, letter in self.typed)
        # Return was pressed, and the app was killed before it took the message: what was typed is the draft. A busy app may not have
        # read the keys of several messages.
        unread = []
        while self.entered and not self.stored(self.entered[-1][0]):
            last, at = self.entered.pop()
            if last in self.accepted:
                self.fault(f"{last!r} was accepted, and is gone; the draft is {draft!r}")
            if self.killed_at - at > SHORT:
                self.fault(f"{last!r} was entered {self.killed_at - at:.2f} s before the kill, and was not accepted")
            self.figures["killed between Return and its row"] += 1
            unread.append(last)
        if unread:
            first = unread[-1]
            if not first.startswith(draft):
                self.fault(f"the draft is {draft!r} after {first!r}")
            self.number, self.typed = int(first.split()[1]), [(0, letter) for letter in draft]
            return
        last = self.entered[-1][0] if self.entered else ""
        if self.typed:
            kept = sum(1 for at, _ in self.typed if at <= self.killed_at - SHORT)
            missing = next((at for at, _ in self.typed[len(draft):]), None)
            self.figures["killed in a draft"] += 1
            self.short.append(0 if missing is None else max(0, self.killed_at - missing))
            if not typed.startswith(draft) or len(draft) < kept:
                self.fault(f"the draft is {draft!r}, typed was {typed!r}, {kept} letters of it {SHORT} s before the kill; last {last!r}")
        elif draft:
            self.fault(f"the draft is {draft!r} again, though {last!r} was taken")
        if draft and not typed.startswith(draft):
            # A person who finds a wrong draft deletes it.
            self.person.enter(person.MESSAGE, "")
            draft = ""
        self.typed = [(0, letter) for letter in draft]
        if not self.typed and typed:
            self.number -= 1

    def check_place(self):
        if not self.place:
            return
        self.figures["killed while scrolled up"] += 1
        try:
            self.person.wait("the place", lambda: self.top() == self.place, 5)
        except person.Lost:
            with open(self.data + "/app.place") as file:
                self.fault(f"the place was {self.place!r}, and is {self.top()!r}; in the file was {self.left}, and is {file.read().split()}")
            self.person.picture(f"place-{self.round}.png")

    # The end

    def finish(self, juliet):
        """What is begun is sent, and everything arrives."""
        if self.typed:
            self.person.key("Return")
            self.entered.append((f"mine {self.number:05}"[:len(self.typed)], 0))
            self.typed = []
        end = time.monotonic() + 60
        wanted = len(self.entered)
        while len([text for text in juliet.received if text.startswith("m")]) < wanted and time.monotonic() < end:
            time.sleep(0.1)
        while self.rows_of("direction = 'in' AND body LIKE 'theirs %'") < self.said and time.monotonic() < end:
            time.sleep(0.1)
        last = f".*: theirs {self.said - 1:05}"
        self.person.key("Escape")
        self.person.key("Return")
        self.person.wait_row("Conversations", "juliet@localhost, .*")
        if not any(re.fullmatch(last, row) for row in self.person.rows("Messages")):
            self.person.press("Newest messages")
            self.person.wait_row("Messages", last)
        time.sleep(1)  # for what would come a second time
        self.person.end()

    def judge(self, juliet):
        received = collections.Counter(juliet.received)
        lost = [text for text, _ in self.entered if not received[text]]
        twice = {text: count for text, count in received.items() if count > 1}
        inside = sqlite3.connect(f"file:{self.data}/kalij.db?mode=ro", uri=True)
        theirs = collections.Counter(body for body, in inside.execute("SELECT body FROM message WHERE direction = 'in' AND body LIKE 'theirs %'"))
        missing = [n for n in range(self.said) if theirs[f"theirs {n:05}"] != 1]
        self.say(f"{len(self.entered)} written: {len(lost)} lost, {len(twice)} twice at the recipient; {len(self.accepted)} were seen accepted")
        self.say(f"{self.said} answered: {len(missing)} not once in the app")
        if self.short:
            ordered = sorted(self.short)
            self.say(f"{len(ordered)} drafts: short by {1000 * ordered[len(ordered) // 2]:.0f} ms in the middle, "
                     f"{1000 * ordered[-1]:.0f} ms at most")
        if lost or twice or missing or self.faults:
            other = sorted(set(received) - {text for text, _ in self.entered})
            states = inside.execute(f"SELECT body, state FROM message WHERE direction = 'out' AND body IN ({','.join('?' * len(lost))})", lost).fetchall()
            raise person.Lost(
                f"lost: {lost}, of these stored: {states}, seen accepted: {self.accepted & set(lost)}; "
                f"came instead: {other[:20]}; twice: {twice}; not once in the app: {missing[:20]}; faults:\n" + "\n".join(self.faults))
