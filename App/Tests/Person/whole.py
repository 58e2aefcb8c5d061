"""A stranger's whole way, once by keyboard alone and once by a screen reader's means and Return: an invitation, an account, the first message, a
group of three, renamed, a person removed, left, and a contact verified by the picture of a code. The others use slixmpp and python-omemo.

    PERSON_SERVER=ejabberd stage PROGRAM whole-keys whole-reader
"""
import json
import os
import pathlib
import re
import subprocess
import threading
import time

import accounts
import files
import groups
import person

PEER = pathlib.Path(__file__).resolve().parents[3] / "Tests/Programs/omemo/omemo_peer.py"
KEY = r"key ([0-9a-f]{8} ){7}[0-9a-f]{8}"


class Encrypting:
    """A device of juliet's with keys: python-omemo."""

    def __init__(self, stage):
        words = ["/usr/bin/python3", str(PEER), stage.stage + "/peer", "juliet@localhost", str(stage.server.port), "--ca", str(stage.server.certificate)]
        self.process = subprocess.Popen(words, env=os.environ | {"PEER_PASSWORD": "secret-juliet", "PYTHONDONTWRITEBYTECODE": "1"}, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(stage.stage + "/peer.log", "ab"))
        self.reports, self.changed = [], threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()
        online = self.wait("online", lambda report: report["event"] == "online")
        self.code = f"xmpp:juliet@localhost?omemo-sid-{online['device']}={online['fingerprint'].replace(' ', '')}"

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.reports.append(json.loads(line))
                self.changed.notify_all()

    def wait(self, what, wanted, seconds=30):
        with self.changed:
            if not self.changed.wait_for(lambda: any(map(wanted, self.reports)), seconds):
                raise person.Lost(f"python-omemo: not within {seconds} s: {what}\n{self.reports}")
            return next(filter(wanted, self.reports))

    def reads(self, text):
        self.wait(text, lambda report: report.get("body") == text)

    def send(self, text):
        self.process.stdin.write(json.dumps({"do": "send", "to": "benvolio@localhost", "body": text, "id": text.replace(" ", "-")}) + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.wait()


class Whole(accounts.Accounts):
    def run(self):
        os.environ["REGISTRATION"] = "captcha" if self.is_ejabberd else "anybody"
        self.begin()
        for user in ("juliet", "nurse"):
            self.server.register(user, "secret-" + user)
        if not self.is_ejabberd:
            self.admit_invited()
        self.juliet, self.nurse = (groups.Guest(self.server, user, "secret-" + user) for user in ("juliet", "nurse"))
        self.peer = Encrypting(self)
        try:
            self.start()
            self.person.wait_focus("text|entry", "Address")
            self.registers() if self.is_ejabberd else self.is_invited()
            self.writes("juliet@localhost", "Good morrow, cousin")
            self.makes_group()
            self.manages_group()
            self.leaves_group()
            self.verifies()
        finally:
            self.peer.end()
        self.person.end()
        self.warnings()

    def shows(self, words):
        """What was done, and a picture of it."""
        self.say(words)
        self.person.picture(f"{self.form}-{words.split(':')[0].replace(' ', '-')}.png")

    # The account

    def is_invited(self):
        """With an account at the inviter's server (XEP-0401)."""
        me = self.person
        self.press("I have an invitation")
        self.enter("Invitation", self.invitation())
        me.see("label", "juliet@localhost invites you to chat, with an account at localhost")
        self.enter("Server", self.place)
        self.shows("invitation: its link says who invites")
        self.press("Next")
        self.names_account()
        me.wait_focus("text", person.MESSAGE)
        self.shows("account: made, and the conversation with the inviter is open")

    def registers(self):
        """By the server's form with its riddle; then the link of a person, which ejabberd does not approve by a token."""
        me = self.person
        self.press("New account")
        me.wait_focus("text|entry", "Server")
        self.enter("Server", self.place)
        self.press("Next")
        me.see("image|icon", "Picture: .*")
        self.names_account()
        me.see("label", "No conversations yet")
        self.shows("account: made, with the answer to the server's riddle")
        subprocess.run([os.environ["KALIJ_APP"], "--data", self.data, "xmpp:juliet@localhost?roster;preauth=abc"], timeout=20, check=True)
        me.see("push button", "Add to the contacts")
        self.shows("invitation: a link that the desktop opens")
        self.press("Add to the contacts")
        self.juliet.raw("<presence to='benvolio@localhost' type='subscribed'/>")
        me.wait_focus("text", person.MESSAGE)

    def names_account(self):
        me = self.person
        me.see("text|entry", "User name")
        self.enter("User name", "benvolio")
        self.enter("New password", "secret benvolio")
        if self.is_ejabberd:
            self.enter("(?!User name|New password|Server|Address|Password).+", open(self.server.server.folder + "/riddle").read().strip())
        self.press("Make account")

    # Messages and the group

    def writes(self, other, text):
        self.send(text)
        self.person.wait_row("Messages", rf"You, \d\d:\d\d: {text}\. (Sent|Delivered|Read)")
        self.juliet.wait_for(text)
        self.juliet.say("benvolio@localhost", "Is the day so young")
        self.person.wait_row("Messages", r"juliet.*, \d\d:\d\d: Is the day so young")
        self.shows("first message: sent, and answered")

    def makes_group(self):
        me = self.person
        self.begin_group()
        self.enter("Group name", "Balcony")
        me.key("Return")
        for address in ("juliet@localhost", "nurse@localhost"):
            self.enter("Add a person", address)
            me.wait_focus("text|entry", "Add a person")
            me.key("Return")
            me.see("push button", "Remove .*" + address.split("@")[0] + ".*")
        self.shows("new group: a name and two people, no server")
        self.press("Create")
        self.room = self.juliet.wait_invited()
        self.nurse.wait_invited()
        me.wait_focus("text", person.MESSAGE)
        me.wait("three in the group", lambda: len(self.juliet.client["xep_0045"].get_roster(self.room)) == 3)
        self.send("Good evening")
        self.juliet.wait_for("Good evening")
        self.nurse.wait_for("Good evening")
        self.shows("group of three: each hears each other")

    def manages_group(self):
        me = self.person
        self.open_side("Members")
        me.wait("three members", lambda: len(me.rows("Members")) == 3)
        self.choose_action("Rename …")
        self.enter("Group name", "Orchard")
        me.key("Return")
        me.wait("the new name", lambda: "Orchard" in self.juliet.name_of(self.room))
        self.shows("renamed: as the others read it from the room")
        self.go_to("Members", "nurse.*")
        me.key("Return")
        self.choose("Remove from the group …")
        self.press("Remove")
        if not self.nurse.out.wait(20):
            raise person.Lost("the nurse is still there")
        me.wait("two members", lambda: len(me.rows("Members")) == 2)
        self.shows("removed: the nurse is out, as she sees it")

    def leaves_group(self):
        me = self.person
        self.choose_action("Leave …")
        self.press("Leave")
        me.wait("benvolio out of the group", lambda: "benvolio" not in self.juliet.client["xep_0045"].get_roster(self.room))
        self.shows("left: as the others see it")

    # Trust

    def verifies(self):
        me = self.person
        self.open_person()
        self.open_side(None)
        self.press("Encrypt messages")
        me.see("label", ".*Your messages are encrypted.*")
        self.back()
        self.send("Under the rose")
        me.wait_row("Messages", r"You, \d\d:\d\d: Under the rose\. (Sent|Delivered|Read)\. Encrypted")
        self.peer.reads("Under the rose")
        self.open_side(None)
        self.press("Verify devices and keys")
        me.wait_row("Devices", rf"Device \d+, Trusted without verification, .*{KEY}")
        path = self.stage + "/code.png"
        subprocess.run(["qrencode", "-s", "6", "-o", path, self.peer.code], check=True)
        self.press("Verify by a code …")
        me.see("push button", "From the clipboard")
        with files.clipboard("picture", path):
            self.press("From the clipboard")
            me.see("label", "Verified: 1 device of .*")
        me.wait_row("Devices", rf"Device \d+, Verified, .*{KEY}")
        self.shows("verified: by the picture of the code of python-omemo")
        self.back()
        self.send("What satisfaction")
        me.wait_row("Messages", r"You, \d\d:\d\d: What satisfaction\. (Sent|Delivered|Read)\. Encrypted, verified")
        self.peer.reads("What satisfaction")
        self.peer.send("The exchange")
        me.wait_row("Messages", r"juliet.*, \d\d:\d\d: The exchange\. Encrypted, verified")
        self.shows("encrypted: what both read, each marked as verified")


class Keys(Whole):
    """By keyboard alone."""

    form = "keys"

    def press(self, name):
        self.person.see("push button", re.escape(name))
        self.tab_to("push button", re.escape(name))
        self.person.key("Return")

    def enter(self, name, text):
        self.person.see("text|entry|password text", name)
        self.tab_to("text|entry|password text", name)
        self.person.key("ctrl+a")
        self.person.type(text)

    def send(self, text):
        self.person.wait_focus("text", person.MESSAGE)
        self.person.type(text)
        self.person.key("Return")

    def begin_group(self):
        self.person.key("ctrl+shift+n")

    def open_side(self, list_name):
        self.person.key("ctrl+i")
        self.person.wait_focus("list item" if list_name else "push button", ".*")

    def choose_action(self, item):
        self.press("Actions")
        self.choose(item)

    def choose(self, item):
        me = self.person
        me.see("menu item", re.escape(item))
        for _ in range(12):
            node = me.focused()
            if node and node.get_role_name() == "menu item" and node.get_name() == item:
                return me.key("Return")
            me.key("Down")
            time.sleep(0.15)
        raise person.Lost(f"the menu's {item} is not reached\n{me.tree()}")

    def go_to(self, list_name, row):
        me = self.person
        self.tab_to("list item", ".*")
        me.key("Home")
        for _ in range(12):
            node = me.focused()
            if node and re.fullmatch(row, node.get_name() or ""):
                return
            me.key("Down")
            time.sleep(0.2)
        raise person.Lost(f"{row} is not reached\n{me.tree()}")

    def open_person(self):
        me = self.person
        me.key("Escape")
        time.sleep(0.5)
        me.key("ctrl+k")
        me.wait_focus("text|entry", "Search")
        me.type("juliet@localhost")
        me.wait("the conversation alone", lambda: len(me.rows("Conversations")) == 1 and me.rows("Conversations")[0].startswith("juliet"))
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)


class Reader(Whole):
    """By what a screen reader does, and Return."""

    form = "reader"

    def press(self, name):
        self.person.press(re.escape(name))

    def enter(self, name, text):
        # Two screens are there while one moves away.
        self.person.wait(f"one field {name}", lambda: len(list(self.person.fields(name))) == 1)
        self.person.enter(name, text)

    def send(self, text):
        self.person.enter(person.MESSAGE, text)
        self.person.press("Send")

    def begin_group(self):
        self.person.press("New conversation")
        self.person.press("New group")

    def open_side(self, list_name):
        self.person.press("(Group|Contact): .*")
        if list_name:
            self.person.see("list", list_name)

    def choose_action(self, item):
        self.person.press("Actions")
        self.person.choose(item)

    def choose(self, item):
        self.person.choose(item)

    def go_to(self, list_name, row):
        me = self.person
        me.select(list_name, row)
        me.wait_focus("list item", row)

    def open_person(self):
        me = self.person
        me.select("Conversations", "juliet.*")
        me.wait_focus("list item", "juliet.*")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)
