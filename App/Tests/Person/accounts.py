"""Accounts, by keyboard alone: made at a server (a taken name, with ejabberd a riddle and a wrong answer first), its password changed, logged out,
logged in, deleted; then an invitation of a person, with Prosody: a link that is none, a pasted one, and one that the desktop opens.

    PERSON_SERVER=ejabberd stage PROGRAM accounts
"""
import asyncio
import json
import os
import re
import sqlite3
import subprocess
import time
import xml.etree.ElementTree as ET

import files
import person
import server as servers
import tour

TABS = 30


class Accounts(tour.Tour):
    @property
    def is_ejabberd(self):
        return os.environ.get("PERSON_SERVER") == "ejabberd"

    @property
    def place(self):
        return f"localhost:{self.server.port}"

    def run(self):
        os.environ["REGISTRATION"] = "captcha" if self.is_ejabberd else "anybody"
        self.juliet, = self.begin("juliet")
        self.make_account()
        self.change_password()
        self.log_out_and_in()
        self.delete()
        if not self.is_ejabberd:
            self.invitations()
        self.person.end()
        self.warnings()

    # Keys

    def tab_to(self, role, name):
        """Presses Tab until the focus is there."""
        me = self.person
        for _ in range(TABS):
            node = me.focused()
            if node and re.fullmatch(role, node.get_role_name()) and re.fullmatch(name, node.get_name() or ""):
                return
            me.key("Tab")
            time.sleep(0.15)
        raise person.Lost(f"Tab does not reach {role} {name}\n{me.tree()}")

    def fill(self, name, text):
        """Replaces the text of the field with the focus."""
        self.person.wait_focus("text|entry|password text", name)
        self.person.key("ctrl+a")
        self.person.type(text)

    # At a server

    def make_account(self):
        me = self.person
        self.start()
        me.wait_focus("text|entry", "Address")
        self.names()
        me.picture("first-start.png")
        self.tab_to("push button", "New account")
        me.key("Return")
        me.wait_focus("text|entry", "Server")
        me.key("Return")
        me.see("label", "Enter the name of a server")
        self.names()
        me.picture("server.png")
        self.fill("Server", self.place)
        me.key("Return")
        me.wait_focus("text|entry", "User name")
        self.say("the server's form is there")
        if self.is_ejabberd:
            me.see("image|icon", "Picture: .*")
        me.type("nobody")
        me.key("Tab")
        self.fill("New password", "nothing")
        me.key("Escape")
        me.wait_focus("text|entry", "Server")
        self.say("Escape returns to the server")
        me.key("Return")
        self.fill("User name", "juliet")
        me.key("Tab")
        self.fill("New password", "first secret")
        self.names()
        self.answer(wrong=False)
        me.see("label", "The name juliet is taken.*")
        me.wait_focus("text|entry", "User name")
        me.picture("taken.png")
        self.say("a taken name is said beside its field")
        self.shows()
        self.fill("User name", "mercutio")
        if self.is_ejabberd:
            self.answer(wrong=True)
            me.see("label", "The answer was wrong.*")
            me.wait_focus("text|entry", ".*")
            me.picture("riddle.png")
            self.say("a wrong answer is said beside its field, and there is another riddle")
        self.answer(wrong=False)
        me.see("label", "No conversations yet")
        me.picture("made.png")
        self.say("the account is made, and logged in")
        self.online("first secret")

    def shows(self):
        """The password can be read, on demand, and not when it is hidden again."""
        me = self.person
        self.tab_to("check box", "Show password")
        me.key("space")
        time.sleep(0.4)
        me.picture("password-shown.png")
        if not any(me.text(node) == "first secret" for node in me.nodes("password text")):
            raise person.Lost("the password that is shown cannot be read")
        me.key("space")
        time.sleep(0.4)
        me.hides("first secret")
        self.tab_to("text|entry", "User name")
        self.say("the new password is shown on demand")

    def answer(self, wrong):
        """Answers the riddle, if there is one, and submits the form."""
        me = self.person
        if self.is_ejabberd:
            self.tab_to("text|entry", "(?!User name|New password|Server).+")
            me.key("ctrl+a")
            me.type("000000" if wrong else open(self.server.server.folder + "/riddle").read().strip())
        me.key("Return")

    def online(self, password, user="mercutio"):
        """Another program logs in."""
        servers.OtherPerson(self.server, user, password)

    # Settings

    def settings(self):
        me = self.person
        me.key("ctrl+comma")
        me.wait_focus("check box", "Show others when you are writing")

    def change_password(self):
        me = self.person
        self.settings()
        me.see("label", r"(?s).*Online.*")
        self.names()
        me.picture("settings.png")
        me.key("space")
        end = time.monotonic() + 10
        while self.row("SELECT value FROM setting WHERE name = 'typing'") != "off":
            if time.monotonic() > end:
                raise person.Lost("the setting is not stored")
            time.sleep(0.05)
        self.say("a switch is a setting")
        self.choose_notifications()
        self.export()
        self.tab_to("push button", "Change your name …")
        me.key("Return")
        self.fill("Your name", "Mercutio")
        me.key("Return")
        me.see("label", "Mercutio")
        self.say("the name is published")
        self.tab_to("push button", "Change the password …")
        me.key("Return")
        me.wait_focus("password text", "New password")
        self.names()
        me.picture("password.png")
        me.type("second secret")
        me.key("Return")
        me.see("label", "The password is changed")
        self.online("second secret")
        self.say("the password is changed")

    def choose_notifications(self):
        """By the keys of radio buttons; the appearance is the app's own."""
        me = self.person
        self.tab_to("radio button", "All messages")
        me.key("Down")
        me.wait_focus("radio button", "People, and mentions in groups")
        end = time.monotonic() + 10
        while self.row("SELECT value FROM setting WHERE name = 'notify' AND conversation = ''") != "mentions":
            if time.monotonic() > end:
                raise person.Lost("the choice of notifications is not stored")
            time.sleep(0.05)
        me.see("label", r"Messages of all accounts: \d+.*")
        self.tab_to("radio button", "As the desktop")
        me.key("Down", "Down")
        me.wait_focus("radio button", "Dark")
        time.sleep(0.5)
        me.picture("settings-dark.png")
        if open(self.data + "/app.appearance").read().strip() != "dark":
            raise person.Lost("the appearance is not kept")
        me.key("Up", "Up")
        me.wait_focus("radio button", "As the desktop")
        self.say("notifications of the whole account and the appearance are chosen")

    def export(self):
        me = self.person
        self.tab_to("push button", "Export …")
        me.key("Return")
        time.sleep(1.5)
        me.picture("export.png")
        path = self.stage + "/moved.jsonl"
        me.key("ctrl+a")
        me.type(path)
        time.sleep(0.5)
        me.key("Return")
        me.see("label", r"\d+ messages? exported to .*/moved\.jsonl")
        lines = [json.loads(line) for line in open(path)]
        if lines[0]["event"] != "export" or lines[-1] != lines[-1] | {"event": "end", "lines": len(lines)}:
            raise person.Lost(f"the export is not whole: {lines[0]} {lines[-1]}")
        command = self.kalij("export", "--account", "mercutio@localhost").splitlines()
        if len(command) != len(lines):
            raise person.Lost(f"the command exports {len(command)} lines, the app {len(lines)}")
        self.say(f"exported: {len(lines)} lines, as by the command")

    def row(self, sql):
        database = sqlite3.connect(f"file:{self.data}/kalij.db?mode=ro", uri=True)
        try:
            found = database.execute(sql).fetchone()
            return found and found[0]
        finally:
            database.close()

    def log_out_and_in(self):
        me = self.person
        self.tab_to("push button", "Log out …")
        me.key("Return")
        me.see("push button", "Log out, keep the messages")
        me.picture("log-out.png")
        self.names()
        self.tab_to("push button", "Log out, keep the messages")
        me.key("Return")
        me.wait_focus("text|entry", "Address")
        if self.row("SELECT state FROM account") != "out":
            raise person.Lost("the account is not logged out")
        self.say("logged out: the first start is there")
        me.type("mercutio@localhost")
        me.key("Tab")
        me.type("second secret")
        self.tab_to("text|entry", "Server")
        me.type(self.place)
        me.key("Return")
        me.see("label", "No conversations yet")
        self.say("logged in again")

    def delete(self):
        me = self.person
        self.settings()
        me.see("label", r"(?s).*Online.*")
        self.tab_to("push button", "Delete the account …")
        me.key("Return")
        me.see("push button", "Delete for good")
        me.picture("delete.png")
        self.tab_to("push button", "Delete for good")
        me.key("Return")
        me.see("push button", "Log in", 40)
        me.see("label", "The account \\S+@localhost is deleted, at its server and here")
        me.picture("deleted.png")
        self.say("deleted: the first start is there, and says so")
        end = time.monotonic() + 20
        while self.row("SELECT count(*) FROM account") != 0:
            if time.monotonic() > end:
                raise person.Lost("the account is still stored")
            time.sleep(0.05)
        # An account of this name can be made again: the server knows it no more.
        self.tab_to("push button", "New account")
        me.key("Return")
        self.fill("Server", self.place)
        me.key("Return")
        self.fill("User name", "mercutio")
        me.key("Tab")
        self.fill("New password", "third secret")
        self.answer(wrong=False)
        me.see("label", "No conversations yet")
        self.online("third secret")
        self.say("and the server knows it no more: it is made again")

    # Invitations

    def invitations(self):
        self.person.end()
        self.data += "-invited"
        self.admit_invited()
        self.juliet = servers.OtherPerson(self.server, "juliet", "secret-juliet")
        self.pasted()
        self.opened()

    def admit_invited(self):
        """From now on, Prosody makes accounts for whom somebody has invited."""
        self.server.stop()
        os.environ["REGISTRATION"] = "invited"
        configuration = self.server.folder / "prosody.cfg.lua"
        configuration.write_text(configuration.read_text().replace(
            'table.insert(enabled, "invites_register")', 'table.insert(enabled, "invites_register"); table.insert(enabled, "invites_adhoc")'
        ).replace("modules_enabled = enabled", "modules_enabled = enabled\nallow_user_invites = true", 1))
        self.server.start()

    def invitation(self):
        """The link that juliet's server makes for her (XEP-0401)."""
        async def ask():
            iq = self.juliet.client.make_iq_set(ito="localhost")
            iq.append(ET.Element("{http://jabber.org/protocol/commands}command", {"node": "urn:xmpp:invite#invite", "action": "execute"}))
            return str(await iq.send(timeout=30))
        answer = asyncio.run_coroutine_threadsafe(ask(), self.juliet.loop).result(40)
        link = re.search(r"xmpp:juliet@[^<\s]+|xmpp:romeo@[^<\s]+", answer).group()
        if "ibr=y" not in link:
            raise person.Lost("the invitation makes no account: " + answer)
        return link

    def pasted(self):
        me = self.person
        self.start()
        me.wait_focus("text|entry", "Address")
        self.tab_to("push button", "I have an invitation")
        me.key("Return")
        self.read_code()
        self.fill("Invitation", "https://localhost/invite")
        me.key("Return")
        me.see("label", "This is no invitation.*")
        self.say("a link that is no invitation is said in words")
        self.fill("Invitation", self.invitation())
        me.see("label", "juliet@localhost invites you to chat, with an account at localhost")
        self.names()
        self.tab_to("text|entry", "Server")
        self.fill("Server", self.place)
        me.picture("invitation.png")
        self.finish("benvolio", "Good morrow, cousin")

    def read_code(self):
        """An invitation as a QR code, in the clipboard."""
        me = self.person
        link, path = self.invitation(), self.stage + "/invitation.png"
        subprocess.run(["qrencode", "-s", "6", "-o", path, link], check=True)
        self.tab_to("push button", "Read it from a code …")
        me.key("Return")
        me.see("push button", "From the clipboard")
        self.names()
        with files.clipboard("picture", self.stage + "/invitation.png"):
            self.tab_to("push button", "From the clipboard")
            me.key("Return")
            me.see("label", "juliet@localhost invites you to chat, with an account at localhost")
        me.wait_focus("push button", "Next")
        self.say("the code of an invitation is read from a picture")
        self.tab_to("text|entry", "Invitation")

    def finish(self, user, text):
        """Fills in the form; the conversation with the inviter is open then."""
        me = self.person
        me.key("Return")
        self.fill("User name", user)
        me.key("Tab")
        self.fill("New password", "secret " + user)
        me.picture("invited.png")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)
        self.say("the account is made, and the conversation with the inviter is open")
        me.type(text)
        me.key("Return")
        self.juliet.wait_for(text)
        me.picture("inviter.png")
        end = time.monotonic() + 20
        while self.row("SELECT subscription FROM contact WHERE jid = 'juliet@localhost'") != "both":
            if time.monotonic() > end:
                raise person.Lost("the inviter is no contact")
            time.sleep(0.1)
        self.say("the inviter is a contact, and each sees the other")

    def opened(self):
        """A link that the desktop opens, without an account."""
        me = self.person
        me.end()
        self.data += "-opened"
        trust = {"SSL_CERT_FILE": str(self.server.certificate)}
        me.start("--data", self.data, self.invitation(), environment=trust)
        me.see("label", "juliet@localhost invites you to chat, with an account at localhost")
        self.tab_to("text|entry", "Server")
        me.type(self.place)
        self.say("an invitation that the desktop opens is filled in")
        self.finish("tybalt", "Benvolio, look upon thy death")
        # With an account, the inviter is added to it.
        other = servers.OtherPerson(self.server, "romeo", "secret-romeo")
        self.juliet = other
        link = self.invitation()
        subprocess.run([os.environ["KALIJ_APP"], "--data", self.data, link], timeout=20, check=True)
        me.see("push button", "Add to the contacts")
        me.picture("add-inviter.png")
        self.tab_to("push button", "Add to the contacts")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)
        end = time.monotonic() + 20
        while self.row("SELECT subscription FROM contact WHERE jid = 'romeo@localhost'") != "both":
            if time.monotonic() > end:
                raise person.Lost("the inviter is no contact")
            time.sleep(0.1)
        self.say("with an account, an invitation adds the inviter, who approves by the token")
