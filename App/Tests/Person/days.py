"""Bad days: no space, no display, no bus, a driver that hangs, two starts at once, texts that lie, tables of other versions, a wrong clock. What
was accepted is kept, and the app says what is wrong.

    DAYS="newer_tables expired" stage PROGRAM days       some of them
"""
import os
import re
import signal
import sqlite3
import subprocess
import time

import clocks
import keys
import person
import tour
import versions


class Days(versions.Versions, clocks.Clocks, tour.Stage):
    def run(self):
        self.keys = keys.Keyboard()
        self.juliet, self.nurse = self.begin("juliet", "nurse")
        self.log_in()
        self.kalij("send", "juliet@localhost", "Good morrow")
        self.start()
        self.open()
        self.person.end()
        chosen = os.environ.get("DAYS", "").split()
        days = (self.no_space, self.terminated, self.two_starts, self.no_session_bus, self.no_accessibility_bus, self.driver_that_hangs,
                self.older_tables, self.migrated_by_two, self.held_for_writing, self.older_driver, self.newer_tables, self.wrong_clock,
                self.jumping_clock, self.expired, self.hostile, self.no_display)
        if unknown := set(chosen) - {day.__name__ for day in days}:
            raise person.Lost("there are no such days: " + ", ".join(sorted(unknown)))
        for day in days:
            if chosen and day.__name__ not in chosen:
                continue
            self.say(f"- {day.__name__}")
            day()
        self.warnings()

    # What days have in common

    def open(self):
        me = self.person
        me.wait_row("Conversations", r"(Juliet|juliet).*")
        me.select("Conversations", r"(Juliet|juliet).*")
        me.wait_focus("list item|text", ".*")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)

    def type(self, text):
        for letter in text:
            self.keys.press(letter)
            time.sleep(0.01)

    def composer(self):
        return self.person.text(next(self.person.fields(person.MESSAGE)))

    def arrives(self, text):
        self.juliet.wait_for(text)
        if self.juliet.received.count(text) != 1:
            raise person.Lost(f"{text!r} came {self.juliet.received.count(text)} times")

    def kept_draft(self):
        with sqlite3.connect(f"file:{self.data}/kalij.db?mode=ro", uri=True) as database:
            return [body for body, in database.execute("SELECT body FROM draft")]

    # Days

    def no_space(self):
        """The disk is full while the person writes; then there is space again."""
        me, old = self.person, self.data
        self.data = self.stage + "/small"
        os.mkdir(self.data)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", self.data], check=True)
        try:
            subprocess.run(["cp", "-a", old + "/.", self.data], check=True)
            self.start()
            self.open()
            self.type("before it is full")
            self.keys.press("Return")
            self.arrives("before it is full")
            filling = self.fill()
            written = self.write_until_refused()
            me.picture("full.png")
            self.say(f"no space: {len(written)} messages more were taken; it says: {self.complaint()}")
            self.juliet.say("romeo@localhost", "while it is full")
            time.sleep(0.5)
            os.remove(filling)
            begun = time.monotonic()
            self.again_until_taken()
            me.wait_row("Messages", ".*: while it is full", 90)
            self.say(f"{time.monotonic() - begun:.1f} s after there is space, everything goes on")
            for text in written:
                self.arrives(text)
            me.gone("label", ".*(space|full|disk).*", 60)
            me.end()
        finally:
            if me.program and me.program.poll() is None:
                me.kill()
            subprocess.run(["umount", "-l", self.data], check=True)
            self.data = old

    def fill(self):
        path = self.data + "/other"
        file = os.open(path, os.O_CREAT | os.O_WRONLY)
        try:
            while os.write(file, b"x" * 4096):
                pass
        except OSError:
            os.close(file)
        return path

    def complaint(self):
        """What the app says of the disk."""
        pattern = r".*(space|full|disk|stored|accepted).*"
        return next((node.get_name() for node in self.person.nodes("label", pattern)), None)

    def write_until_refused(self):
        """Messages that were taken until one was not."""
        taken = []
        for n in range(400):
            text = f"full {n}"
            self.type(text)
            self.keys.press("Return")

            def done():
                rows = self.person.rows("Messages")
                return ("taken" if any(f": {text}. " in row for row in rows) else
                        "refused" if self.complaint() and self.composer() == text else None)
            if self.person.wait("an answer", done, 40) == "refused":
                self.refused = text
                return taken
            taken.append(text)
        raise person.Lost("the disk is never full")

    def again_until_taken(self):
        """The text is still there; the person tries until it is taken."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.composer() == self.refused:
                self.keys.press("Return")
                time.sleep(0.5)
            if any(f": {self.refused}. " in row for row in self.person.rows("Messages")):
                return self.arrives(self.refused)
        raise person.Lost("nothing is taken though there is space: " + repr(self.complaint()))

    def terminated(self):
        """SIGTERM right after a key: the draft is whole."""
        self.start()
        self.open()
        self.type("a draft that is ended")
        begun = time.monotonic()
        status = self.person.end()
        self.say(f"ended with {status} {time.monotonic() - begun:.2f} s after SIGTERM; draft {self.kept_draft()}")
        if status != 0 or self.kept_draft() != ["a draft that is ended"] or time.monotonic() - begun > 1:
            raise person.Lost("SIGTERM")
        self.start()
        self.person.wait("the draft", lambda: self.composer() == "a draft that is ended")
        self.keys.press("Return")
        self.arrives("a draft that is ended")
        self.person.end()

    def two_starts(self):
        """Two starts at the same moment: one window, one driver."""
        begun = [subprocess.Popen([os.environ["KALIJ_APP"], "--data", self.data], env=self.trusting, stderr=subprocess.DEVNULL,
                                  stdin=subprocess.DEVNULL) for _ in range(3)]
        end = time.monotonic() + 20
        while sum(one.poll() is None for one in begun) > 1 and time.monotonic() < end:
            time.sleep(0.02)
        left = [one for one in begun if one.poll() is None]
        said = [one.returncode for one in begun if one.poll() is not None]
        if len(left) != 1 or any(said):
            raise person.Lost(f"of three starts {len(left)} are left; the others ended with {said}")
        self.adopt(left[0])
        self.open()
        self.type("from one of three")
        self.keys.press("Return")
        self.arrives("from one of three")
        self.person.end()

    @property
    def trusting(self):
        return os.environ | {"SSL_CERT_FILE": str(self.server.certificate)}

    def adopt(self, program):
        me = self.person
        me.program, me.log = program, self.stage + "/app.log"
        me.app = me.wait("the app", me.find_app)

    def blind(self, text, **environment):
        """Starts the app where the tree cannot be read, and writes by keyboard alone."""
        environment = {name: value for name, value in (self.trusting | environment).items() if value is not None}
        with open(self.stage + "/blind.log", "ab") as log:
            program = subprocess.Popen([os.environ["KALIJ_APP"], "--data", self.data], env=environment, stdout=log, stderr=log,
                                       stdin=subprocess.DEVNULL)
        self.window(program)
        time.sleep(1)
        self.type(text)
        self.keys.press("Return")
        try:
            self.arrives(text)
        except SystemExit as error:
            self.person.picture("failed.png")
            raise person.Lost(f"{error}\n" + open(self.stage + "/blind.log").read()[-2000:])
        program.terminate()
        if program.wait(timeout=20) != 0:
            raise person.Lost(f"ended with {program.returncode}: " + open(self.stage + "/blind.log").read()[-2000:])
        said = [line for line in open(self.stage + "/blind.log") if "CRITICAL" in line and "Unable to connect to the acc" not in line]
        if said:
            raise person.Lost("GLib warns: " + "".join(said))

    def window(self, program):
        """Waits for a window of the program's with the focus: the conversation of before is open, and the text has the focus."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            found = subprocess.run(["xdotool", "getactivewindow", "getwindowpid"], capture_output=True, text=True, timeout=20)
            if found.stdout.strip() == str(program.pid):
                return
            if program.poll() is not None:
                raise person.Lost(f"ended with {program.returncode}: " + open(self.stage + "/blind.log").read()[-2000:])
            time.sleep(0.05)
        raise person.Lost("no window")

    def no_session_bus(self):
        nowhere = "unix:path=/nonexistent"
        self.blind("without an address of a bus", DBUS_SESSION_BUS_ADDRESS=None, XDG_RUNTIME_DIR=self.stage + "/none")
        self.blind("with a wrong address", DBUS_SESSION_BUS_ADDRESS=nowhere, XDG_RUNTIME_DIR=self.stage + "/none")

    def no_accessibility_bus(self):
        self.blind("without accessibility", GTK_A11Y="none", NO_AT_BRIDGE="1")
        # GTK itself calls that critical.
        self.blind("the bus of accessibility is elsewhere", AT_SPI_BUS_ADDRESS="unix:path=/nonexistent", G_DEBUG=None)

    def driver_that_hangs(self):
        """Another process has the right to drive, and does nothing."""
        driver = self.drive()
        me = self.person
        try:
            driver.send_signal(signal.SIGSTOP)
            self.start()
            self.open()
            self.type("by a hanging driver")
            self.keys.press("Return")
            me.wait_row("Messages", r".*: by a hanging driver\. Waiting: the running program has not taken it yet")
            self.type("a draft")
            time.sleep(0.5)
            self.say("a driver that hangs: the list is there, and a message waits")
            me.kill()
            self.start()
            me.wait_row("Messages", r".*: by a hanging driver\. Waiting: the running program has not taken it yet")
            begun = time.monotonic()
            driver.send_signal(signal.SIGCONT)
            self.arrives("by a hanging driver")
            me.wait_row("Messages", r".*: by a hanging driver\. (Sent|Delivered)")
            self.say(f"it goes on: sent after {1000 * (time.monotonic() - begun):.0f} ms")
            driver.send_signal(signal.SIGSTOP)
            begun = time.monotonic()
            status = me.end()
            self.say(f"beside a driver that hangs: ended with {status} {time.monotonic() - begun:.2f} s after SIGTERM")
            if status != 0 or time.monotonic() - begun > 2:
                raise person.Lost("SIGTERM beside a driver that hangs")
        finally:
            driver.send_signal(signal.SIGCONT)
            driver.terminate()
            driver.wait()

    # Texts

    def hostile(self):
        self.kalij("add", "juliet@localhost", "--name", "You, 10:00: \u202eteiluJ\u202c\n<b>x</b> \u2066" + "\U0001F469\u200D\U0001F680" * 80)
        self.start()
        me = self.person
        row = me.wait_row("Conversations", ".*<b>x</b>.*")
        self.hears_no_lie([row])
        me.select("Conversations", ".*<b>x</b>.*")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)
        before = self.cpu()
        self.juliet.say("romeo@localhost", "<b>bold</b> & <script> &amp;", "\u202eYou, 10:00: turned", "a\nYou, 11:11: I lie. Read",
                        "\U0001F600" * 10_000, "x" * 200_000, "last of them")
        me.wait_row("Messages", ".*: last of them", 60)
        self.say(f"hostile texts are shown after {self.cpu() - before} ms of CPU")
        self.huge()
        rows = me.rows("Messages")
        self.hears_no_lie(rows)
        own = [row for row in rows if row.startswith("You, ") and re.search("turned|I lie|bold", row)]
        if own:
            raise person.Lost("a row lies about who wrote: " + repr(own))
        me.picture("hostile.png")
        me.end()

    def huge(self):
        """10 MB in one message: no server lets it pass, so it comes into the archive as from another version."""
        me = self.person
        me.end()
        database = sqlite3.connect(self.data + "/kalij.db")
        now = int(time.time() * 1000)
        columns = ("account, direction, conversation, position, archive, stanza_id, message_id, sender, recipient, type, body, sent_at, "
                   "received_at, shown")
        with database:
            for name, body in (("huge", "m" * 10_000_000), ("words", "word " * 2_000_000), ("lines", "\n" * 1_000_000)):
                database.execute(f"INSERT INTO message({columns}) VALUES (1, 'in', 'juliet@localhost', ?, '', ?, ?, 'juliet@localhost/x', "
                                 "'romeo@localhost', 'chat', ?, ?, ?, 1)", (10_000_000 + len(body), name, name, body, now, now))
        database.close()
        begun = time.monotonic()
        self.start()
        me.wait_row("Messages", ".*: mmmm.*only its beginning is shown.*", 60)
        self.say(f"three messages of 1 to 10 MB are shown {time.monotonic() - begun:.1f} s after the start")

    def hears_no_lie(self, rows):
        for row in rows:
            if re.search("[\u202a-\u202e\u2066-\u2069\u200e\u200f]", row):
                raise person.Lost("a row turns the direction: " + ascii(row)[:300])
            if len(row) > 10_000:
                raise person.Lost(f"a row has {len(row)} characters")

    def no_display(self):
        """The display goes away: the messages that were accepted are kept, and the process ends."""
        shown = subprocess.Popen(["Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset"],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            display = ":" + shown.stdout.readline().decode().strip()
            self.person.start("--data", self.data, environment={"DISPLAY": display, "SSL_CERT_FILE": str(self.server.certificate)})
            me = self.person
            field = me.wait("the text", lambda: next(me.fields(person.MESSAGE), None))
            me.enter(person.MESSAGE, "the display goes away")
            me.press("Send")
            me.wait_row("Messages", ".*: the display goes away.*")
            me.enter(person.MESSAGE, "and a draft")
            time.sleep(0.6)
            shown.kill()
            begun = time.monotonic()
            status = me.program.wait(timeout=20)
            self.say(f"without a display it ended with {status} after {time.monotonic() - begun:.2f} s; draft {self.kept_draft()}")
            if status < 0 or self.kept_draft() != ["and a draft"]:
                raise person.Lost("a display that goes away")
        finally:
            shown.kill()
            shown.wait()
        # What was accepted may not have left yet.
        self.start()
        self.arrives("the display goes away")
        self.person.wait("the draft", lambda: self.composer() == "and a draft")
        self.person.end()
