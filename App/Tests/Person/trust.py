"""Encryption by keyboard: it is begun, keys are compared by a code (a file, the clipboard, the screen, its text), new devices are lines and questions, and
each mark is in the names of the rows. The other person uses `kalij` in directories of its own.

    stage PROGRAM trust
"""
import os
import re
import subprocess
import time

import desktop
import files
import notices
import people
import person
import portal
import tour

#: What a row of a device has at its end.
KEY = r"key ([0-9a-f]{8} ){7}[0-9a-f]{8}"


class Device:
    """A device of somebody else, which is online until it ends."""

    def __init__(self, stage, user, name):
        self.stage, self.data = stage, f"{stage.stage}/{name}"
        words = ["login", user + "@localhost", "--server", f"localhost:{stage.server.port}", "--ca", str(stage.server.certificate)]
        self.kalij(*words, env=os.environ | {"KALIJ_PASSWORD": "secret-" + user})
        self.log = open(f"{stage.stage}/{name}.log", "ab")
        self.process = subprocess.Popen([os.environ["KALIJ_BINARY"], "--data", self.data, "run"], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        self.wait("keys", lambda: "others can encrypt" in self.kalij("omemo", check=False))

    def kalij(self, *words, check=True, **options):
        return subprocess.run([os.environ["KALIJ_BINARY"], "--data", self.data, *words], check=check, timeout=60, capture_output=True,
                              text=True, **options).stdout

    def wait(self, what, look, seconds=30):
        end = time.monotonic() + seconds
        while not look():
            if time.monotonic() > end:
                raise person.Lost(f"{self.data}: not within {seconds} s: {what}")
            time.sleep(0.1)

    def reads(self, text):
        self.wait(text, lambda: text in self.kalij("history", "romeo@localhost", check=False))

    def end(self):
        self.process.kill()
        self.process.wait()


class Trust(notices.Stage):
    def run(self):
        self.begin()
        self.server.register("juliet", "secret-juliet")
        self.server.register("paris", "secret-paris")
        self.log_in()
        self.kalij("add", "juliet@localhost", "--name", "Juliet")
        self.kind, self.id = "freedesktop", notices.application(self.data)
        self.bus = notices.Gio.bus_get_sync(notices.Gio.BusType.SESSION)
        self.desktop, devices = desktop.Desktop(self.kind, self.id), []
        try:
            devices.append(Device(self, "juliet", "phone"))
            self.phone = devices[0]
            self.begins()
            self.encrypts()
            self.compares()
            self.scans()
            devices.append(Device(self, "juliet", "tablet"))
            self.arrives(devices[1])
            self.decides(devices[1])
            self.own()
            self.explains()
            self.names_devices(devices[0])
            self.without_keys()
            devices.append(Device(self, "juliet", "laptop"))
            self.replies_without_window(devices[2])
        finally:
            for device in devices:
                device.end()
            self.desktop.end()
        self.person.end()
        self.warnings()

    # Hands

    def tab_to(self, name):
        """Presses Tab until the button has the focus."""
        me = self.person
        for _ in range(30):
            node = me.focused()
            if node and node.get_role_name() == "push button" and re.fullmatch(name, node.get_name() or ""):
                return
            me.key("Tab")
            time.sleep(0.15)
        raise person.Lost(f"no focus on {name}\n" + me.tree())

    def press(self, name):
        """Presses a button by keyboard."""
        self.tab_to(name)
        self.person.key("Return")

    def write(self, text):
        me = self.person
        me.wait_focus("text", person.MESSAGE)
        me.type(text)
        me.key("Return")

    def open_contact(self):
        me = self.person
        me.key("ctrl+i")
        me.see("push button", "Verify devices and keys")
        me.wait_focus("push button", ".*")

    def open_devices(self):
        self.open_contact()
        self.press("Verify devices and keys")
        self.person.see("list", "Devices")

    def device(self, state):
        return self.person.wait_row("Devices", rf"Device \d+, {state}, (last message .*, )?{KEY}")

    # The tour

    def begins(self):
        me = self.person
        self.start()
        me.wait("the keys of the app", lambda: "others can encrypt" in subprocess.run(
            [os.environ["KALIJ_BINARY"], "--data", self.data, "omemo"], capture_output=True, text=True).stdout)
        me.key("ctrl+n")
        me.wait_focus("text|entry", "Name or address")
        me.type("juliet@localhost")
        me.key("Return")
        self.write("Good morrow")
        me.wait_row("Messages", r"You, \d\d:\d\d: Good morrow\. (Sent|Delivered|Read)")
        self.say("a message that is not encrypted has no mark in a conversation that is not")

    def encrypts(self):
        me = self.person
        self.open_contact()
        me.see("label", ".*Your messages are not encrypted.*")
        self.press("Encrypt messages")
        me.see("label", ".*Your messages are encrypted.*")
        self.back()
        self.write("Under the rose")
        me.wait_row("Messages", r"You, \d\d:\d\d: Under the rose\. (Sent|Delivered|Read)\. Encrypted")
        me.wait_row("Messages", r"You, \d\d:\d\d: Good morrow\. (Sent|Delivered|Read)\. Not encrypted")
        me.wait_row("Messages", "New device of Juliet, not verified")
        self.phone.reads("Under the rose")
        self.phone.kalij("send", "romeo@localhost", "By whose direction")
        me.wait_row("Messages", r"Juliet, \d\d:\d\d: By whose direction\. Encrypted")
        me.picture("trust-marks.png")
        self.say("encrypted by keyboard; marks and the new device are in the names of the rows")

    def compares(self):
        """The digits, side by side; the decision is withdrawn again."""
        me = self.person
        self.open_devices()
        self.device("Trusted without verification")
        tour.Tour.names(self)
        me.picture("trust-devices.png")
        me.wait_focus("list item", "Device .*")
        me.key("Return")
        self.person.choose("Compare …")
        me.see("label", KEY)
        me.picture("trust-compare.png")
        tour.Tour.names(self)
        self.press("All digits are equal")
        self.device("Verified")
        me.wait_focus("list item", "Device .*")
        me.key("Menu")
        self.person.choose("Trust without verification")
        self.device("Trusted without verification")
        self.say("compared by digits, and back")

    def code(self, text, name="code.png"):
        path = f"{self.stage}/{name}"
        subprocess.run(["qrencode", "-s", "6", "-o", path, text], check=True)
        return path

    def enter_code(self, text):
        """Types a text into the open dialog."""
        me = self.person
        me.enter("Text of the code", text)
        self.press("Verify")

    def scans(self):
        me = self.person
        uri = self.phone.kalij("omemo", "uri").strip()
        self.press("Verify by a code …")
        me.see("text|entry", "Text of the code")
        me.picture("trust-read.png")
        tour.Tour.names(self)
        self.enter_code("xmpp:juliet@localhost")
        me.see("label", "There is no code with keys in it")
        self.enter_code(uri.replace("juliet@", "paris@"))
        me.see("label", "This code belongs to paris@localhost, not to Juliet.*")
        self.enter_code(uri[:-1] + ("0" if uri[-1] != "0" else "1"))
        me.see("label", "The keys differ")
        me.see("label", r"Device \d+ of Juliet has another key here than in the code.*")
        me.picture("trust-differs.png")
        self.press("Close")
        self.device("Trusted without verification")
        self.say("a code of somebody else, none, and one with another key: in words, and nothing is verified")
        self.press("Verify by a code …")
        me.see("push button", "From a picture …")
        with files.clipboard("picture", self.code("https://example.org", "other.png")):
            self.press("From the clipboard")
            me.see("label", "There is no code with keys in it")
        with files.clipboard("picture", self.code(uri)):
            self.press("From the clipboard")
            me.see("label", "Verified: 1 device of Juliet")
        self.device("Verified")
        self.back()
        self.write("What satisfaction")
        me.wait_row("Messages", r"You, \d\d:\d\d: What satisfaction\. (Sent|Delivered|Read)\. Encrypted, verified")
        self.phone.kalij("send", "romeo@localhost", "The exchange")
        me.wait_row("Messages", r"Juliet, \d\d:\d\d: The exchange\. Encrypted, verified")
        self.say("verified by a picture of the code; messages of both sides are marked so")
        self.from_file(uri)

    def from_file(self, uri):
        me = self.person
        self.open_devices()
        me.wait_focus("list item", "Device .*")
        self.press("Verify by a code …")
        me.see("push button", "From a picture …")
        self.press("From a picture …")
        time.sleep(1.5)
        me.picture("trust-chooser.png")
        me.gone("label", "Verified: 1 device of Juliet")
        me.type(self.code(uri))
        time.sleep(0.5)
        me.key("Return")
        me.see("label", "Verified: 1 device of Juliet")
        self.back()
        self.say("verified by a file")

    def arrives(self, tablet):
        """A second device of somebody who was verified."""
        me = self.person
        tablet.kalij("omemo", "on", "romeo@localhost")
        tablet.kalij("send", "romeo@localhost", "From my tablet")
        me.wait_row("Messages", r"Juliet, \d\d:\d\d: From my tablet\. Encrypted by an undecided device")
        me.wait_row("Messages", "New device of Juliet, not verified: nothing is sent there until you decide")
        me.picture("trust-new-device.png")
        self.say("a new device is a line, and its message is marked")

    def decides(self, tablet):
        me = self.person
        self.corrects()
        self.replies(tablet)
        self.write("Is it thou")
        me.see("label", "Who may read this.*")
        me.picture("trust-question.png")
        tour.Tour.names(self)
        # A second Return, too early, gives the text back.
        me.wait_focus("push button", "Cancel")
        me.key("Return")
        me.wait("the text again", lambda: any(me.text(field) == "Is it thou" for field in me.fields(person.MESSAGE)))
        me.wait_focus("text", person.MESSAGE)
        me.key("Return")
        me.see("label", "Who may read this.*")
        self.press("Trust and send")
        me.wait_row("Messages", r"You, \d\d:\d\d: Is it thou\. (Sent|Delivered|Read)\. Encrypted")
        tablet.reads("Is it thou")
        self.phone.reads("Is it thou")
        self.say("one question, which gives the text back, or sends it")
        self.write("It is")
        me.wait_row("Messages", r"You, \d\d:\d\d: It is\. (Sent|Delivered|Read)\. Encrypted")
        if me.sees("label", "Who may read this.*"):
            raise person.Lost("the question comes again")

    def corrects(self):
        """A correction waits for the decision, too."""
        me = self.person
        me.wait_focus("text", person.MESSAGE)
        me.key("Up")
        me.see("label", "Correct the message: .*")
        me.wait("the text", lambda: any(me.text(field) == "What satisfaction" for field in me.fields(person.MESSAGE)))
        me.key("ctrl+End")
        me.type(" canst thou have")
        me.key("Return")
        me.see("label", "Who may read this.*")
        me.wait_focus("push button", "Cancel")
        me.key("Return")
        me.gone("label", "Who may read this.*")
        me.see("label", "Correct the message: .*")
        me.wait("the text again", lambda: any(me.text(field) == "What satisfaction canst thou have" for field in me.fields(person.MESSAGE)))
        if "canst" in self.phone.kalij("history", "romeo@localhost"):
            raise person.Lost("the correction has left before the decision")
        me.wait_focus("text", person.MESSAGE)
        me.key("Escape")
        me.gone("label", "Correct the message: .*")
        self.say("a correction waits for the decision, and is given back as one")

    def replies(self, tablet):
        """A reply in a notification waits for the decision: with the window at another conversation, it is the draft."""
        me = self.person
        me.key("ctrl+n")
        me.wait_focus("text|entry", "Name or address")
        me.type("nurse@localhost")
        me.key("Return")
        me.see("label", "nurse@localhost")
        tablet.kalij("send", "romeo@localhost", "Wilt thou be gone")
        me.wait("the notification", self.desktop.shown)
        key, = self.desktop.shown()
        self.desktop.act(key, "inline-reply", "It was the lark")
        me.see("label", "Your reply is not sent.*")
        me.wait("the reply in the composer", lambda: any(me.text(field) == "It was the lark" for field in me.fields(person.MESSAGE)))
        me.picture("trust-reply.png")
        if any("lark" in device.kalij("history", "romeo@localhost") for device in (self.phone, tablet)):
            raise person.Lost("the reply has left before the decision")
        me.wait_focus("text", person.MESSAGE)
        me.key("ctrl+a", "BackSpace")
        self.say("a reply in a notification waits for the decision, as a draft")

    def without_keys(self):
        """A conversation is encrypted with somebody who has no keys."""
        me = self.person
        me.key("ctrl+n")
        me.wait_focus("text|entry", "Name or address")
        me.type("paris@localhost")
        me.key("Return")
        me.see("label", "paris@localhost")
        self.open_contact()
        self.press("Encrypt messages")
        me.wait("the outcome, and the line of the contact", lambda: 2 <= len(list(
            me.nodes("label", ".*paris@localhost has no keys for encrypted messages yet: what you write cannot be sent.*"))))
        me.picture("trust-keyless-contact.png")
        self.back()
        question = "paris@localhost has no keys for encrypted messages"
        self.write("Happily met")
        me.see("label", question)
        me.picture("trust-keyless.png")
        tour.Tour.names(self)
        me.wait_focus("push button", "Cancel")
        me.key("Return")
        me.wait("the text again", lambda: any(me.text(field) == "Happily met" for field in me.fields(person.MESSAGE)))
        me.wait_focus("text", person.MESSAGE)
        me.key("Return")
        me.see("label", question)
        self.press("Try again encrypted")
        me.wait_row("Messages", r"You, \d\d:\d\d: Happily met\. Not sent: paris@localhost has no keys for encrypted messages.*")
        # Its row, where Return does it, and Tab reaches the button.
        me.key("shift+F6", "End")
        me.wait_focus("list item", ".*Happily met.*")
        self.press("Send again")
        me.see("label", question)
        self.press("Stop encrypting and send")
        me.wait_row("Messages", r"You, \d\d:\d\d: Happily met\. (Sent|Delivered)")
        me.wait_focus("list item", ".*Happily met.*")
        self.tab_to("Attach.*")
        me.key("Tab")
        self.write("My lady")
        me.wait_row("Messages", r"You, \d\d:\d\d: My lady\. (Sent|Delivered)")
        me.picture("trust-keyless-sent.png")
        self.say("somebody without keys: it is said before, the text is given back, and leaves without encryption only by the user's decision")

    def replies_without_window(self, laptop):
        """The process without a window becomes the app, with the reply as the draft."""
        me = self.person
        me.end()
        self.start_background()
        laptop.kalij("omemo", "on", "romeo@localhost")
        laptop.kalij("send", "romeo@localhost", "It was the nightingale")
        self.until("the notification", lambda: any("nightingale" in n["body"] for n in self.desktop.shown().values()))
        key = next(key for key, n in self.desktop.shown().items() if "nightingale" in n["body"])
        self.desktop.act(key, "inline-reply", "Believe me, love")
        me.program = self.until("the window", self.with_window)
        me.app = me.wait("the app", me.find_app)
        me.wait("the reply in the composer", lambda: any(me.text(field) == "Believe me, love" for field in me.fields(person.MESSAGE)))
        if any("Believe" in device.kalij("history", "romeo@localhost") for device in (self.phone, laptop)):
            raise person.Lost("the reply has left before the decision")
        me.wait_focus("text", person.MESSAGE)
        # The window manager gives the focus to the new window a moment later.
        time.sleep(1.5)
        me.key("Return")
        me.see("label", "Who may read this.*")
        me.wait_focus("push button", "Cancel")
        self.press("Trust and send")
        laptop.reads("Believe me, love")
        self.say("a reply without a window opens it, with the reply as the draft; it is sent after the decision")

    def own(self):
        me = self.person
        me.key("ctrl+shift+d")
        me.wait_row("Devices", "This device, " + KEY)
        me.wait_focus("list item", "This device.*")
        self.press("Show my code")
        me.see("label", KEY)
        me.see("image|icon|.*", "Code of romeo@localhost")
        me.picture("trust-code.png")
        tour.Tour.names(self)
        self.press("Copy")
        self.press("Close")
        self.press("Verify by a code …")
        me.see("push button", "From the clipboard")
        self.press("From the clipboard")
        me.see("label", "This is the code of this device itself")
        self.press("Cancel")
        # The picture that the app shows is one that it reads.
        self.press("Verify by a code …")
        me.see("push button", "From the clipboard")
        if me.sees("push button", "From the screen"):
            raise person.Lost("no desktop makes a picture of the screen here")
        with files.clipboard("picture", f"{self.stage}/trust-code.png"):
            self.press("From the clipboard")
            me.see("label", "This is the code of this device itself")
        self.press("Cancel")
        with portal.screen(f"{self.stage}/trust-code.png"):
            self.press("Verify by a code …")
            me.see("push button", "From the screen")
            self.press("From the screen")
            me.see("label", "This is the code of this device itself")
        self.press("Cancel")
        self.say("the own code is shown, copied, and read from a picture of the screen, which the portal makes, too")

    def names_devices(self, phone):
        """In OMEMO 2, by names that the keys of the devices sign, as another program finds (python3-xeddsa)."""
        me = self.person
        for kalij in (phone.kalij, self.kalij):
            kalij("omemo", "version2", "on")
        phone.kalij("omemo", "name", "Juliet's phone")
        phone.wait("the name", lambda: "Juliet's phone" in phone.kalij("omemo"))
        self.signed("juliet", "Juliet's phone")
        self.write("With two versions")
        phone.reads("With two versions")
        self.open_devices()
        me.wait_row("Devices", rf"Device \d+, “Juliet's phone”, .*{KEY}")
        me.picture("trust-named.png")
        self.back()
        me.key("ctrl+shift+d")
        me.wait_focus("list item", "This device.*")
        me.key("Menu")
        me.choose("Name this device …")
        me.wait_focus("text|entry", "Name, which others see if both of you use OMEMO 2")
        me.type("The balcony")
        me.key("Return")
        me.wait_row("Devices", "This device, “The balcony”, " + KEY)
        me.picture("trust-own-name.png")
        self.signed("romeo", "The balcony")
        me.key("Escape")
        me.wait_focus("text", person.MESSAGE)
        self.say("devices have names, signed by their keys; this device has one, too")

    def signed(self, user, name):
        """The list of devices has the name, with a signature of its device's key, once that key is published."""
        import base64
        import xeddsa
        other = people.Guest(self.server, user, "secret-" + user, joins=False)
        space = "urn:xmpp:omemo:2"

        async def items(node, **options):
            return (await other.client["xep_0060"].get_items(f"{user}@localhost", node, **options)).xml

        def found():
            for device in other.ask(items(space + ":devices")).iter(f"{{{space}}}device"):
                if device.get("label") == name:
                    bundle = other.ask(items(space + ":bundles", item_ids=[device.get("id")]))
                    key = base64.b64decode(next(bundle.iter(f"{{{space}}}ik")).text)
                    return xeddsa.ed25519_verify(base64.b64decode(device.get("labelsig")), key, name.encode())
            return False
        other.loop.call_soon_threadsafe(other.client.register_plugin, "xep_0060")
        self.person.wait(f"the signature of {name}", found)
        other.loop.call_soon_threadsafe(other.client.abort)

    def explains(self):
        me = self.person
        self.press("Encryption explained")
        me.see("label", "Not encrypted")
        me.picture("trust-explained.png")
        tour.Tour.names(self)
        self.press("Close")
        self.back()
        self.say("the marks are explained")
