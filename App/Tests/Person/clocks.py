"""Bad days of the clock: it is wrong, and it jumps."""
import os
import pathlib
import re
import struct
import subprocess

import person

HOUR, DAY = 3600, 86400


class Clocks:
    """A part of `days.Days`."""

    def set_clock(self, shift):
        """The clock of programs in the environment `false_clock` is wrong by this many seconds, from now on."""
        path = self.stage + "/clock"
        if not os.path.exists(path):
            pathlib.Path(path).write_bytes(bytes(8))
            source = pathlib.Path(__file__).with_name("clock.c")
            subprocess.run(["cc", "-O", "-shared", "-fPIC", "-o", path + ".so", source], check=True)
        with open(path, "r+b") as file:
            file.write(struct.pack("=q", shift))

    @property
    def false_clock(self):
        return {"LD_PRELOAD": self.stage + "/clock.so", "CLOCK_SHIFT": self.stage + "/clock"}

    def start_at(self, shift):
        self.set_clock(shift)
        self.person.start("--data", self.data, environment=self.false_clock | {"SSL_CERT_FILE": str(self.server.certificate)})

    def writes(self, text):
        """Writes a message, which arrives."""
        self.type(text)
        self.keys.press("Return")
        self.arrives(text)
        self.person.wait_row("Messages", rf".*: {text}\. (Sent|Delivered).*")

    def wrong_clock(self):
        """A day behind, and a day ahead."""
        me, said = self.person, []
        for shift, name in ((-DAY, "behind"), (DAY, "ahead")):
            self.start_at(shift)
            self.open()
            for n in range(2):
                self.juliet.say("romeo@localhost", f"theirs {name} {n}")
                me.wait_row("Messages", f".*: theirs {name} {n}")
                self.writes(f"mine {name} {n}")
                said += [f"theirs {name} {n}", f"mine {name} {n}"]
            self.say(f"a day {name}: {self.days_of(me.rows('Messages'))}")
            self.in_order(said)
            me.picture(f"clock-{name}.png")
            self.kalij("send", "juliet@localhost", f"command {name}", env=os.environ | self.false_clock)
            self.arrives(f"command {name}")
            said.append(f"command {name}")
            me.wait_row("Messages", f".*: command {name}.*")
            me.end()
        self.start()
        self.open()
        self.in_order(said)
        self.say(f"the clock is right again: {self.days_of(me.rows('Messages'))}")
        self.works("by the right clock")
        me.end()

    def days_of(self, rows):
        """The lines of days, with the number of messages below."""
        found = []
        for row in rows:
            if re.match(r".*, \d\d:\d\d: ", row, re.S):
                if found:
                    found[-1][1] += 1
            else:
                found.append([row, 0])
        return ", ".join(f"{name}: {count}" for name, count in found)

    def in_order(self, said):
        """The texts are in this order in the window, and in what the command tells."""
        for name, lines in (("window", self.person.rows("Messages")),
                            ("history", self.kalij("history", "juliet@localhost", "--limit", "100").splitlines())):
            found = [text for line in lines for text in said if re.search(rf": {re.escape(text)}\b|\b{re.escape(text)}$", line)]
            if found != said:
                raise person.Lost(f"{name}: {found}, not {said}; {lines}")

    def jumping_clock(self):
        """The clock jumps by an hour and back while the app runs."""
        me, said = self.person, []
        self.start_at(0)
        self.open()
        for n, shift in enumerate((0, HOUR, -HOUR, 0, -DAY, DAY, 0)):
            self.set_clock(shift)
            self.juliet.say("romeo@localhost", f"theirs jump {n}")
            self.nurse.say("romeo@localhost", f"nurse jump {n}")
            me.wait_row("Messages", f".*: theirs jump {n}")
            self.writes(f"mine jump {n}")
            me.wait_row("Conversations", rf"nurse@localhost, {n + 1} unread, nurse jump {n}, .*")
            said += [f"theirs jump {n}", f"mine jump {n}"]
            if self.line():
                raise person.Lost(f"after a jump to {shift}: {self.line()}")
        self.in_order(said)
        self.say(f"after jumps: {self.days_of(me.rows('Messages'))}")
        me.picture("jumps.png")
        me.select("Conversations", "nurse@localhost, .*")
        me.key("Return")
        me.wait_row("Conversations", "nurse@localhost, nurse jump 6, .*")
        self.say("unread numbers are right")
        me.end()

    def expired(self):
        """The clock makes the server's certificate be of the past or the future: login and app say so."""
        me = self.person
        for shift, words in ((60 * DAY, ".*has expired.*"), (-30 * DAY, ".*is not yet valid.*")):
            self.set_clock(shift)
            told = subprocess.run([os.environ["KALIJ_BINARY"], "--data", self.stage + "/elsewhere", "login", "romeo@localhost",
                                   "--server", f"localhost:{self.server.port}", "--ca", str(self.server.certificate)], capture_output=True,
                                  text=True, env=os.environ | self.false_clock | {"KALIJ_PASSWORD": "secret-romeo"}, timeout=60)
            self.say(f"clock {shift // DAY:+} days: `kalij login` ended with {told.returncode}: {told.stderr.strip()}")
            if not re.search(words, told.stderr, re.S):
                raise person.Lost("no clear words")
            self.start_at(shift)
            me.see("label", "Offline since .*", 40)
            me.picture(f"expired{shift // DAY:+}.png")
            self.say(f"the app says: {self.line()}")
            me.end()
            self.first_start_at(shift, words)
        self.start()
        self.works("the certificate is valid again")
        me.end()

    def first_start_at(self, shift, words):
        """A login in the app, in another directory."""
        me, old = self.person, self.data
        self.data = self.stage + f"/first{shift // DAY:+}"
        try:
            self.start_at(shift)
            self.enter_login("secret-romeo")
            found = me.see("label", words, 30)
            self.say(f"the first start says: {found.get_name()}")
            me.picture(f"first-expired{shift // DAY:+}.png")
        finally:
            me.end()
            self.data = old

    def enter_login(self, password):
        me = self.person
        me.enter("Address", "romeo@localhost")
        me.enter("Password", password)
        me.enter("Server", f"localhost:{self.server.port}")
        me.press("Log in")
