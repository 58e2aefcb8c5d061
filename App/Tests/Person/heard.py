"""What Orca says of the app: its log of the tour by keyboard."""
import contextlib
import os
import re
import subprocess
import time

import person
import tour

#: Orca repeats the keys, too.
ECHO = re.compile(r"(tab|return|escape|backspace|space|page (up|down)|home|end|up|down|menu|delete|dot|F6|(left|right) (shift|control|alt)|.) ")


class Heard(tour.Stage):
    def run(self):
        juliet, = self.begin("juliet")
        self.log_in()
        with self.orca():
            self.listen(juliet)
        bad = [line for line in self.spoken() if re.search(r"\b(Adw|Gtk)[A-Z]\w+|unnamed", line)]
        if bad:
            raise person.Lost("Orca says classes: " + repr(bad))
        self.say("no class is spoken, nothing is unnamed")
        self.person.end()

    @contextlib.contextmanager
    def orca(self, name=""):
        """Orca, as long as the block runs; what it said is kept as `speech.log`."""
        self.log = f"{self.stage}/orca{name}.log"
        subprocess.run(["gsettings", "set", "org.gnome.desktop.interface", "toolkit-accessibility", "true"], capture_output=True, timeout=20)
        # A critical of GLib ends the app under test, not the screen reader.
        environment = {name: value for name, value in os.environ.items() if name != "G_DEBUG"}
        orca = subprocess.Popen(["/usr/bin/python3", os.path.join(os.path.dirname(__file__), "orca_now.py"), self.log], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=environment)
        try:
            self.wait_orca()
            # A menu below the pointer would follow it.
            subprocess.run(["xdotool", "mousemove", "0", "0"], check=True, timeout=20)
            yield
        finally:
            orca.terminate()
            try:
                orca.wait(10)
            except subprocess.TimeoutExpired:
                orca.kill()
            with open(f"{self.stage}/speech{name}.log", "w") as file:
                file.write("\n".join(self.spoken()) + "\n")

    def listen(self, juliet):
        me = self.person
        self.kalij("add", "juliet@localhost", "--name", "Juliet", "--wait")
        self.kalij("send", "juliet@localhost", "Good morrow")
        self.start()
        me.wait_row("Conversations", "Juliet, .*")
        self.wait_speech(r".*Juliet, You: Good morrow, \d\d:\d\d.*", "the row with the focus")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)
        self.wait_speech(r".*Message.*", "the text field")
        juliet.say("romeo@localhost", "To thee, good morrow")
        self.wait_speech(r".*Juliet: To thee, good morrow.*", "the message that came")
        me.key("shift+F6")
        self.wait_speech(r".*Juliet, \d\d:\d\d: To thee, good morrow.*", "the newest row")
        me.key("Up")
        self.wait_speech(r".*You, \d\d:\d\d: Good morrow\. .*", "the row before")
        juliet.say("romeo@localhost", *[f"number {n}" for n in range(8)])
        self.wait_speech(r".*notification Juliet: number 0.*", "the first of many")
        self.wait_speech(r".*notification \d messages.*", "many messages as a number")
        for name in ("Today", "number 7"):
            me.wait_row("Messages", ".*" + name + ".*")
        time.sleep(1)
        times = [line for line in self.spoken() if "Juliet: To thee, good morrow" in line]
        if len(times) != 1:
            raise person.Lost("spoken not once: " + repr(times))
        self.say("a message that comes is spoken once")
        juliet.say("romeo@localhost", "https://example.org/balcony")
        me.wait_row("Messages", ".*/balcony. 1 link")
        me.key("End")
        self.wait_speech(r".*Juliet, \d\d:\d\d: https://example\.org/balcony\. 1 link.*", "an address, and that it is a link")

    def wait_orca(self):
        end = time.monotonic() + 30
        while "SpawnError" not in self.text() and "speech" not in self.text().lower():
            if time.monotonic() > end:
                raise person.Lost("Orca does not start: " + self.text()[-1000:])
            time.sleep(0.1)

    def text(self):
        try:
            return open(self.log, errors="replace").read()
        except OSError:
            return ""

    def spoken(self):
        """What was said, in order."""
        lines = self.text().splitlines()
        return [line.split("SPEECH OUTPUT:", 1)[1].strip() for line in lines if "SPEECH OUTPUT:" in line]

    def wait_speech(self, pattern, what):
        end = time.monotonic() + 20
        while not any(re.fullmatch(pattern, line) for line in self.spoken()):
            if time.monotonic() > end:
                raise person.Lost(f"Orca does not say {what} ({pattern}), but: " + "\n".join(self.spoken()[-12:]))
            time.sleep(0.05)
        self.say(f"Orca says {what}: " + next(line for line in reversed(self.spoken()) if re.fullmatch(pattern, line)))

    def hears(self, do):
        """Does something at the keyboard. Orca notes each key, or hangs."""
        size = os.path.getsize(self.log)
        do()
        end = time.monotonic() + 20
        while os.path.getsize(self.log) == size:
            if time.monotonic() > end:
                raise person.Lost("Orca hangs")
            time.sleep(0.05)

    def said(self, since):
        """What Orca said since then without the keys."""
        lines = [re.sub(r"\{'established.*", "", line).strip()[1:-1] for line in self.spoken()[since:]]
        return [line for line in lines if line.strip() and line != "Screen reader on." and not ECHO.fullmatch(line)]

    def quiet(self):
        """Until Orca has nothing to do for a while."""
        end, size, since = time.monotonic() + 8, -1, 0.0
        while time.monotonic() < end:
            now = os.path.getsize(self.log)
            if now != size:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > 1:
                return
            time.sleep(0.05)
