"""One sensitive text never leaves plain: texts are written into an encrypted conversation while the other side's devices come, go and change
their keys, decisions are made at random, corrections are written, settings are clicked, and the server is stopped. What the server was sent and
has kept never has one of them.

    TEXTS=1000 SEED=1 stage PROGRAM sensitive        LIMIT=1500
"""
import json
import os
import pathlib
import random
import re
import sqlite3
import subprocess
import time

import person
import trust

TEXTS = int(os.environ.get("TEXTS", "1000"))
SEED = int(os.environ.get("SEED", "1"))
MARK = "Capulet"
#: Written before the conversation is encrypted: what the search has to find.
CONTROL = "Montague in plain"
#: The module of the server that writes what comes and goes, as it is.
MODULE = """
local file = assert(io.open(os.getenv("SERVER_DIR") .. "/stanzas.log", "a"))
file:setvbuf("line")
local function write(event) file:write(tostring(event.stanza), "\\n") end
for _, kind in ipairs({ "message", "iq" }) do
    for _, place in ipairs({ "bare", "full", "host" }) do
        module:hook(kind .. "/" .. place, write, 10000)
        module:hook("pre-" .. kind .. "/" .. place, write, 10000)
    end
end
"""
QUESTION = "Who may read this.*"


class Sensitive(trust.Trust):
    def run(self):
        self.random, self.figures = random.Random(SEED), {}
        self.watch_server()
        self.begin()
        self.server.register("juliet", "secret-juliet")
        self.log_in()
        self.devices = []
        try:
            self.prepare()
            self.write_all()
            self.settle()
        finally:
            for device in self.devices:
                device.end()
        self.judge()
        self.person.end()
        self.warnings()

    def watch_server(self):
        if os.environ.get("PERSON_SERVER") == "ejabberd":
            return
        folder = self.server.folder
        (folder / "plugins/mod_stanzas.lua").write_text(MODULE)
        path = folder / "prosody.cfg.lua"
        path.write_text(path.read_text().replace(
            "modules_enabled = enabled", 'table.insert(enabled, "stanzas"); modules_enabled = enabled', 1))

    def count(self, what):
        self.figures[what] = self.figures.get(what, 0) + 1

    # The beginning: a device that was verified, so that each later one is a question

    def prepare(self):
        me = self.person
        self.devices.append(trust.Device(self, "juliet", "device-1"))
        self.start()
        me.wait("the keys of the app", lambda: "others can encrypt" in subprocess.run(
            [os.environ["KALIJ_BINARY"], "--data", self.data, "omemo"], capture_output=True, text=True).stdout)
        self.kalij("add", "juliet@localhost", "--name", "Juliet")
        self.kalij("send", "--plain", "juliet@localhost", CONTROL)
        self.open("Juliet")
        me.wait_row("Messages", rf"You, .*{CONTROL}\. (Sent|Delivered|Read)")
        self.kalij("omemo", "on", "juliet@localhost")
        self.verified = self.devices[0].kalij("omemo", "uri").strip()
        self.kalij("omemo", "verify", self.verified)
        self.field = next(me.fields(person.MESSAGE))
        self.button = next(me.nodes("push button", "Send"))

    # What the user does

    def write_all(self):
        number = 0
        while number < TEXTS:
            self.something_happens(number)
            if number and self.random.random() < 0.03:
                self.correct(f"{MARK} {number:04} corrected")
            self.put(f"{MARK} {number:04}")
            number += 1
            if number % 100 == 0:
                self.say(f"{number} texts; {self.figures}")

    def put(self, text):
        """Writes a text, and answers the question if there is one."""
        before = self.text()
        person.Atspi.EditableText.set_text_contents(self.field, before + " " + text if before.strip() else text)
        self.submit()

    def text(self):
        return self.person.text(self.field)

    def is_accepted(self, text):
        database = sqlite3.connect(f"file:{self.data}/kalij.db?mode=ro", uri=True)
        try:
            return database.execute("SELECT 1 FROM message WHERE body = ? LIMIT 1", (text,)).fetchone()
        finally:
            database.close()

    def is_corrected(self, text):
        return any(text in row for row in self.person.rows("Messages"))

    def submit(self, is_accepted=None):
        """Sends what is written, and answers the question if there is one."""
        me, text = self.person, self.text()
        is_accepted = is_accepted or (lambda: self.is_accepted(text))
        person.Atspi.Action.do_action(self.button, 0)
        end = time.monotonic() + 20
        while not is_accepted():
            if me.app.get_child_count() > 1 and me.sees("label", QUESTION):
                if not self.answer():
                    return
            if time.monotonic() > end:
                raise person.Lost(f"neither a question nor accepted: {text!r}")
            time.sleep(0.01)

    def answer(self):
        """:return: whether the text leaves."""
        me = self.person
        answer = self.random.choice(["Trust and send", "Send without", "Cancel", "Cancel"])
        self.count(answer)
        me.wait_focus("push button", "Cancel")
        self.press(answer)
        me.wait("the end of the question", lambda: me.app.get_child_count() == 1)
        if answer == "Cancel":
            me.wait("the text again", lambda: MARK in self.text())
        return answer != "Cancel"

    def correct(self, text):
        """Up corrects the last text; what was not sent yet is put aside."""
        me = self.person
        if self.text().strip():
            return
        for _ in range(8):
            if "FOCUSED" in person.states(self.field):
                break
            me.key("F6")
            time.sleep(0.3)
        me.key("Up")
        try:
            me.see("label", "Correct the message: .*", 3)
        except person.Lost:
            return
        person.Atspi.EditableText.set_text_contents(self.field, text)
        self.count("corrections")
        # A refused correction is given back as a text of its own.
        self.submit(lambda: self.is_corrected(text) or text in self.text() and not me.sees("label", "Correct the message: .*"))
        if me.sees("label", "Correct the message: .*"):
            me.press("Cancel")
            me.gone("label", "Correct the message: .*")

    # What happens besides

    def something_happens(self, number):
        chance = self.random.random()
        if chance < 0.012:
            self.new_device()
        elif chance < 0.03:
            self.device_goes_or_comes()
        elif chance < 0.04:
            self.key_changes()
        elif chance < 0.05:
            self.decision()
        elif chance < 0.065:
            self.click_settings()
        elif chance < 0.067:
            self.server_stops()

    def new_device(self):
        if len(self.devices) >= 8:
            return
        self.count("new devices")
        device = trust.Device(self, "juliet", f"device-{len(self.devices) + 1}")
        self.devices.append(device)
        device.kalij("omemo", "on", "romeo@localhost")
        device.kalij("send", "--queue-only", "romeo@localhost", f"From device {len(self.devices)}", check=False)

    def device_goes_or_comes(self):
        device = self.random.choice(self.devices)
        self.count("devices gone or back")
        if device.process.poll() is None:
            device.end()
        else:
            self.start_device(device)

    @staticmethod
    def start_device(device):
        device.process = subprocess.Popen([os.environ["KALIJ_BINARY"], "--data", device.data, "run"], stdin=subprocess.DEVNULL,
                                          stdout=device.log, stderr=device.log)

    def key_changes(self):
        device = self.random.choice(self.devices[1:] or [None])
        if device:
            self.count("keys changed")
            device.kalij("omemo", "reset", "--queue-only", check=False)

    def decision(self):
        """On a key at random, by the command."""
        lines = subprocess.run([os.environ["KALIJ_BINARY"], "--data", self.data, "omemo", "fingerprints", "juliet@localhost", "--json"],
                               capture_output=True, text=True, timeout=60).stdout.splitlines()
        first = self.verified.rsplit("=", 1)[1]
        keys = [key["fingerprint"] for key in map(json.loads, lines) if key.get("fingerprint") not in (None, first)]
        if keys:
            self.count("decisions")
            word = self.random.choice(["trust", "distrust"])
            self.kalij("omemo", word, "juliet@localhost", self.random.choice(keys), "--queue-only")

    def click_settings(self):
        me = self.person
        self.count("settings")
        me.key("ctrl+comma")
        me.see("check box", "Show others when you are writing")
        # GTK 4.8 has no actions of check boxes for screen readers.
        me.wait_focus("check box", ".*")
        for _ in range(2):
            me.key(*["Tab"] * self.random.randrange(3), "space")
        me.key("Escape")
        me.wait("the messages", lambda: me.sees("list", "Messages") or me.key("Escape"))

    def server_stops(self):
        self.count("stops of the server")
        self.server.stop()
        time.sleep(self.random.uniform(0.2, 2))
        self.server.start()

    # The end

    def settle(self):
        """Sends what is left, and waits until nothing waits any more."""
        for _ in range(20):
            if not self.text().strip():
                break
            self.submit()
        for device in self.devices:
            if device.process.poll() is not None:
                self.start_device(device)
        end = time.monotonic() + 120
        while time.monotonic() < end:
            waiting = [m for m in self.messages() if m.get("state") in ("queued", "sent")]
            if not waiting:
                # Devices that came back read what they missed.
                return time.sleep(5)
            time.sleep(1)
        self.say(f"{len(waiting)} still wait: {waiting[0]}")

    def messages(self):
        lines = self.kalij("history", "juliet@localhost", "--limit", "100000", "--json").splitlines()
        return [m for m in map(json.loads, lines) if m.get("direction") == "out" and MARK in (m.get("body") or "")]

    def judge(self):
        found, control, size, encrypted = [], 0, 0, 0
        for path in pathlib.Path(self.server.folder).rglob("*"):
            if not path.is_file():
                continue
            content = path.read_bytes()
            encrypted += len(re.findall(rb"eu\.siacs\.conversations\.axolotl|urn:xmpp:omemo", content))
            size += len(content)
            control += content.count(CONTROL.encode())
            found += [(path.name, match.group()) for match in re.finditer(rb".{0,80}" + MARK.encode() + rb".{0,40}", content, re.S)]
        messages = self.messages()
        states = {}
        for message in messages:
            states[message["state"]] = states.get(message["state"], 0) + 1
        # Texts that were given back are sent as a part of the next one.
        written = {number for message in messages for number in re.findall(MARK + r" (\d{4})", message["body"])}
        self.say(f"{self.figures}")
        self.say(f"{len(written)} of {TEXTS} texts in {len(messages)} messages: {states}")
        read = set()
        for device in self.devices:
            text = device.kalij("history", "romeo@localhost", "--limit", "100000", check=False)
            read |= set(re.findall(MARK + r" (\d{4})", text))
        self.say(f"{len(read)} texts are read by a device of the other side; {encrypted} "
                 f"namespaces of OMEMO, {size} bytes searched, the control found {control} times")
        if not control:
            raise person.Lost("the search does not find the control")
        if found:
            raise person.Lost(f"a sensitive text at the server: {found[:3]}")
        if len(read) < TEXTS // 2:
            raise person.Lost("too few texts arrived for this to mean something")
        self.say("no sensitive text has reached the server")
