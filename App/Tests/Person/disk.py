"""The disk is full at each step that stores something: an account made, a setting, a new password, an export, a saved file, a correction, a file sent, a
group, the end of the account. Nothing is said to be done that is not stored, what was written stays, and all goes on when there is room again, without a
restart.

    stage PROGRAM disk          STEPS="makes_account deletes": some of them alone
"""
import os
import pathlib
import re
import signal
import subprocess
import time

import accounts
import files
import full
import groups
import person
import server as servers
import tour
from person import Atspi

FULL = "the disk is full"
STEPS = "makes_account settings appearance password saves exports corrects attaches makes_group starts deletes"


class Disk(tour.Stage):
    row, tab_to = accounts.Accounts.row, accounts.Accounts.tab_to
    fill = full.Full.fill

    def run(self):
        os.environ["REGISTRATION"] = "anybody"
        self.juliet, = self.begin("juliet")
        for folder in (self.data, self.stage + "/small"):
            os.makedirs(folder)
        person.unshare()
        # A file is sent only if 64 MiB remain.
        self.mount(self.data, 200)
        self.mount(self.stage + "/small", 1)
        for name in os.environ.get("STEPS", STEPS).split():
            getattr(self, name)()
        self.person.end()
        self.warnings()

    def mount(self, folder, megabytes):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", folder], check=True, timeout=20)

    def free(self):
        os.remove(self.data + "/filler")

    def says(self, words, seconds=20):
        self.person.see("label", f"(?s).*{words}.*", seconds)

    def settle(self, what, look):
        """Waits until the program's own account of a thing is that of the disk or the server."""
        self.person.wait(what, look)

    # Accounts

    def makes_account(self):
        me = self.person
        self.fill()
        self.start()
        me.press("New account")
        me.wait_focus("text|entry", "Server")
        me.enter("Server", f"localhost:{self.server.port}")
        me.press("Next")
        me.see("text|entry", "User name")
        me.enter("User name", "mercutio")
        me.enter("New password", "first secret")
        me.press("Make account")
        self.says("The account is made, and cannot be stored here: " + FULL)
        me.picture("disk-account.png")
        self.names()
        self.free()
        me.press("Make account")
        me.see("label", "No conversations yet")
        if self.row("SELECT count(*) FROM account") != 1:
            raise person.Lost("the account is not stored")
        self.say("an account that could not be stored is stored when there is room, and made once")
        me.key("ctrl+n")
        me.wait_focus("text|entry", "Name or address")
        me.type("juliet@localhost")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)
        me.type("Good morrow")
        me.key("Return")
        self.juliet.wait_for("Good morrow")

    names = tour.Tour.names

    def password(self):
        me = self.person
        self.fill()
        self.change_password("second secret")
        me.wait("an outcome", lambda: self.said("Nothing was changed: " + FULL) or self.said("The password is changed"))
        self.free()
        servers.OtherPerson(self.server, "mercutio", "second secret" if self.said("The password is changed") else "first secret")
        self.say("a new password on a full disk is not asked for, or changed")
        # The disk fills between the request and the server's answer.
        os.kill(self.server.process.pid, signal.SIGSTOP)
        self.change_password("third secret")
        self.settle("the request", lambda: self.row("SELECT new_password FROM account") == "third secret")
        self.fill()
        os.kill(self.server.process.pid, signal.SIGCONT)
        time.sleep(3)
        self.free()
        self.says("The password is changed", 40)
        self.settle("the password", lambda: self.row("SELECT new_password FROM account") is None)
        servers.OtherPerson(self.server, "mercutio", "third secret")
        self.say("an answer that could not be stored is found out with room again: the new password is the true one")

    def change_password(self, password):
        me = self.person
        me.press("Change the password …")
        me.wait_focus("password text", "New password")
        me.type(password)
        me.key("Return")

    def said(self, words):
        return self.person.sees("label", f"(?s).*{words}.*")

    # Choices

    def settings(self):
        me = self.person
        me.key("ctrl+comma")
        me.wait_focus("check box", "Show others when you are writing")
        self.fill()
        me.key("space")
        time.sleep(1)
        self.free()
        shown = me.focused()
        self.settle("the switch as it is stored", lambda: shown.get_state_set().contains(Atspi.StateType.CHECKED)
                    == (self.row("SELECT value FROM setting WHERE name = 'typing'") != "off"))
        me.picture("disk-settings.png")
        self.say("a switch shows what is stored")

    def appearance(self):
        me, path = self.person, self.data + "/app.appearance"
        self.tab_to("radio button", "As the desktop")
        me.key("Down")
        self.settle("the choice", lambda: open(path).read() == "light\n")
        self.fill()
        me.key("Down")
        self.says("Appearance: not possible, " + FULL)
        self.free()
        if open(path).read() != "light\n" or os.path.exists(path + ".part"):
            raise person.Lost("the choice is lost: " + open(path).read())
        me.key("Up")
        me.key("Down")
        self.settle("the choice", lambda: open(path).read() == "dark\n")
        self.say("a choice that cannot be stored is said, and the former one remains")

    # Files

    def small(self, room):
        """A folder that has `room` bytes left, and a file of the person's in it."""
        folder = pathlib.Path(self.stage + "/small")
        for file in folder.iterdir():
            file.unlink()
        (folder / "mine").write_text("mine")
        (folder / "filler").write_bytes(bytes((1 << 20) - 4096 - room))
        return folder

    def save_as(self, path):
        """In GTK's dialog, over an existing file."""
        me = self.person
        time.sleep(1.5)
        me.key("ctrl+a")
        me.type(str(path))
        time.sleep(0.5)
        me.key("Return")
        time.sleep(1)
        me.key("Return")

    def saves(self):
        me, letter = self.person, pathlib.Path(self.stage) / "verses.txt"
        letter.write_bytes(b"verse " * 20_000)
        mine, self.data = self.data, self.stage + "/juliet"
        self.log_in("juliet")
        subprocess.run([os.environ["KALIJ_BINARY"], "--data", self.data, "send", "mercutio@localhost", "--file", str(letter)], check=True,
                       capture_output=True, timeout=60)
        self.data = mine
        self.leave()
        me.wait_row("Messages", ".*verses.txt.*120.KB.*")
        folder = self.small(40_000)
        me.press("Save as")
        self.save_as(folder / "mine")
        self.says("Not saved: " + FULL)
        me.picture("disk-save.png")
        if (folder / "mine").read_text() != "mine" or sorted(os.listdir(folder)) != ["filler", "mine"]:
            raise person.Lost(f"the file of the person is gone, or half: {os.listdir(folder)}")
        (folder / "filler").unlink()
        me.press("Save as")
        self.save_as(folder / "mine")
        self.settle("the copy", lambda: (folder / "mine").read_bytes() == letter.read_bytes())
        self.say("a file is saved whole, or not, and what it replaces remains until then")

    def exports(self):
        me = self.person
        for number in range(20):
            self.kalij("send", "juliet@localhost", f"word {number} " * 1000)
        me.key("ctrl+comma")
        me.see("push button", "Export …")
        folder = self.small(40_000)
        me.press("Export …")
        self.save_as(folder / "mine")
        self.says("Nothing was exported: " + FULL)
        if (folder / "mine").read_text() != "mine" or sorted(os.listdir(folder)) != ["filler", "mine"]:
            raise person.Lost(f"the file of the person is gone, or half: {os.listdir(folder)}")
        self.say("an export is whole, or none")

    # Messages

    def leave(self):
        me = self.person
        self.back()
        for _ in range(6):
            if me.focused() and re.fullmatch(person.MESSAGE, me.focused().get_name() or ""):
                return
            me.key("F6")
            time.sleep(0.3)

    def written(self):
        return self.person.text(next(self.person.fields(person.MESSAGE)))

    def corrects(self):
        me = self.person
        self.leave()
        me.wait_focus("text", person.MESSAGE)
        me.type("first words")
        me.key("Return")
        self.juliet.wait_for("first words")
        me.key("Up")
        self.settle("the correction", lambda: self.written() == "first words")
        me.key("ctrl+a")
        me.type("second words")
        self.fill()
        me.key("Return")
        time.sleep(1.5)
        me.picture("disk-correct.png")
        self.free()
        if self.written() == "second words":
            me.key("ctrl+a", "BackSpace")
        else:
            me.wait_row("Messages", ".*second words.*")
            self.juliet.wait_for("second words")
        self.say("a correction is made, or given back")

    def attaches(self):
        me, path = self.person, self.stage + "/letter.txt"
        open(path, "w").write("x" * 300_000)
        with files.clipboard("file", path):
            me.key("ctrl+v")
            me.see("push button", "Remove letter.txt")
        me.wait_focus("text", person.MESSAGE)
        me.type("see the letter")
        self.fill()
        me.key("Return")
        self.says("letter.txt is not sent: " + FULL)
        if self.written() != "see the letter" or not me.sees("push button", "Remove letter.txt"):
            raise person.Lost("the file, or its text, is lost")
        self.free()
        me.wait_focus("text", person.MESSAGE)
        me.key("Return")
        self.juliet.wait_for("see the letter")
        self.say("a file and its text stay, and leave with room again")

    def makes_group(self):
        me = self.person
        groups.enter_group(me, "Revels", "juliet@localhost")
        self.fill()
        me.press("Create")
        time.sleep(2)
        me.picture("disk-group.png")
        self.free()
        if me.sees("push button", "Create"):
            self.says("not possible, " + FULL)
            me.press("Create")
        me.wait_row("Conversations", "Revels.*")
        self.settle("the group", lambda: self.row("SELECT count(*) FROM room") == 1)
        self.say("a group is made, or given back")

    # The start and the end

    def starts(self):
        """The program begins on a full disk."""
        me = self.person
        me.end()
        self.fill()
        self.start()
        self.says("cannot go online: " + FULL)
        me.wait_row("Conversations", "juliet@localhost.*")
        me.picture("disk-start.png")
        self.free()
        me.gone("label", "(?s).*cannot go online.*")
        self.juliet.say("mercutio@localhost", "There is room")
        me.wait_row("Conversations", "juliet@localhost, .*There is room.*")
        self.say("a start on a full disk says so, and goes online by itself when there is room")

    def deletes(self):
        me = self.person
        me.key("ctrl+comma")
        me.see("push button", "Delete the account …")
        os.kill(self.server.process.pid, signal.SIGSTOP)
        me.press("Delete the account …")
        me.see("push button", "Delete for good")
        me.press("Delete for good")
        self.settle("the request", lambda: self.row("SELECT unregistering FROM account") == 1)
        self.fill()
        os.kill(self.server.process.pid, signal.SIGCONT)
        time.sleep(3)
        self.free()
        me.see("label", "The account mercutio@localhost is deleted, at its server and here", 60)
        self.settle("the end", lambda: self.row("SELECT count(*) FROM account") == 0)
        self.say("the end of an account on a full disk is made up for with room again")
