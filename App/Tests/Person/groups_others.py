"""A group of three whose other two people use Dino and profanity, driven by script: after each step, what they see is compared.

    stage PROGRAM groups-others     as root, as `beside`
"""
import pathlib
import re
import subprocess
import time

import dino
import groups
import person
import tour

PROGRAMS = pathlib.Path(__file__).resolve().parents[3] / "Tests/Programs"


def activate(someone):
    """Gives the window of a person's program the keyboard."""
    found = subprocess.run(["xdotool", "search", "--sync", "--onlyvisible", "--pid", str(someone.program.pid)],
                           check=True, timeout=20, capture_output=True, text=True)
    subprocess.run(["xdotool", "windowactivate", "--sync", found.stdout.split()[-1]], check=True, timeout=20)
    time.sleep(0.3)


class Profanity:
    """Somebody with profanity: lines are typed, and its log has all that it sends and receives."""

    def __init__(self, stage, user, server):
        self.folder, self.user = pathlib.Path(stage) / user, user
        self.folder.mkdir()
        self.process = subprocess.Popen(
            ["/usr/bin/python3", str(PROGRAMS / "profanity.py"), str(self.folder), user + "@localhost", str(server.port), str(server.certificate)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
            env={"PATH": "/usr/bin:/bin", "TERM": "xterm", "PROFANITY_PASSWORD": "secret-" + user})
        self.wait("the roster", r" RECV: .*jabber:iq:roster")

    def type(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait(self, what, pattern, seconds=20):
        """Waits for a line of the log, which `pattern` finds."""
        end = time.monotonic() + seconds
        while True:
            log = self.folder / "log"
            text = log.read_text(errors="replace") if log.exists() else ""
            if found := re.search(pattern, text):
                return found
            if time.monotonic() > end:
                raise person.Lost(f"{self.user}'s profanity has not: {what}\n" + text[-2000:])
            time.sleep(0.05)

    def quit(self):
        self.process.stdin.close()
        self.process.wait(20)


class Juliet(dino.DinoPerson):
    """Juliet at Dino."""

    def log_in(self):
        self.start()
        self.see("push button", "Set up account")
        activate(self)
        self.key("Tab", "Return")
        self.see("filler|frame|dialog", "Add Account")
        self.type("juliet@localhost")
        self.key("Return")
        self.see("label", "Sign in to juliet@localhost")
        self.type("secret-juliet")
        self.key("Return")
        self.see("label", "All set up!")
        self.key("Return")

    def join(self, room):
        activate(self)
        self.key("ctrl+g")
        self.see("dialog|filler|frame", "Join Channel")
        self.type(room)
        self.see("label", room)
        self.key("Tab", "Return")
        self.see("push button", "Join")
        # A nickname is needed: the third field.
        self.key("Tab", "Tab", "Return")
        self.type("juliet")
        self.press("Join")
        self.gone("dialog|filler|frame", "Join Channel")

    def say(self, text):
        activate(self)
        self.type(text)
        self.key("Return")


class Others(tour.Stage):
    INVITATION = r" RECV: <message[^\n]*<x [^>]*jid=[\"']([^\"']+)"

    def run(self):
        dino.alone(self.stage)
        self.server.start()
        dino.trust(self.server.certificate)
        link = subprocess.Popen(["/usr/bin/python3", str(PROGRAMS / "link.py"), f"5222:{self.server.port}"], stdin=subprocess.PIPE,
                                stdout=subprocess.DEVNULL)
        for user in ("romeo", "juliet", "nurse"):
            self.server.register(user, "secret-" + user)
        self.log_in()
        self.kalij("add", "juliet@localhost", "--name", "Juliet")
        self.start()
        self.person.see("push button", "New conversation")
        self.juliet = Juliet()
        self.juliet.log_in()
        self.nurse = Profanity(self.stage, "nurse", self.server)
        self.makes()
        self.speaks()
        self.manages()
        self.removes()
        self.destroys()
        self.juliet.end()
        self.nurse.quit()
        self.person.end()
        link.kill()
        self.warnings()

    def makes(self):
        me = self.person
        activate(me)
        groups.enter_group(me, "Balcony", "juliet@localhost", "nurse@localhost")
        me.press("Create")
        room = self.nurse.wait("an invitation", self.INVITATION)
        self.room = room[1]
        self.nurse.type(f"/join {self.room} nick nurse")
        self.juliet.join(self.room)
        self.say("a group of three by name and people, entered by Dino and profanity")

    def both_see(self, what, text):
        self.juliet.see("label", f".*{re.escape(text)}.*")
        self.nurse.wait(what, f" RECV: .*{re.escape(text)}")

    def speaks(self):
        me = self.person
        activate(me)
        me.wait_focus("text", person.MESSAGE)
        me.type("Good evening")
        me.key("Return")
        self.both_see("a text", "Good evening")
        self.juliet.say("From Dino")
        self.nurse.type("From profanity")
        me.wait_row("Messages", "[Jj]uliet, .*From Dino")
        me.wait_row("Messages", "nurse, .*From profanity")
        self.juliet.see("label", ".*From profanity.*")
        self.nurse.wait("a text of Dino", " RECV: .*From Dino")
        self.say("each one's text at the other two")

    member, members, open_members = groups.Groups.member, groups.Groups.members, groups.Groups.open_members

    def manages(self):
        me = self.person
        activate(me)
        self.open_members()
        me.wait("three members", lambda: len([row for row in self.members() if row.endswith("present")]) == 3)
        me.press("Actions")
        self.person.choose("Rename …")
        me.wait_focus("text|entry", "Group name")
        me.key("ctrl+a")
        me.type("Orchard")
        me.key("Return")
        self.juliet.see("label", "Orchard")
        self.nurse.wait("a change of the room", ' RECV: <message.*status code="104"')
        me.press("Actions")
        self.person.choose("Change the topic …")
        me.wait_focus("text|entry", "Topic")
        me.type("Names and roses")
        me.key("Return")
        self.both_see("the topic", "Names and roses")
        self.member("Juliet", "Make an admin")
        self.nurse.wait("an admin", ' RECV: <presence.*/[Jj]uliet.*affiliation="admin"')
        self.say("renamed, a topic, an admin: as Dino and profanity see it")

    def removes(self):
        me = self.person
        self.member("nurse", "Remove from the group …")
        me.see("push button", "Remove")
        me.press("Remove")
        self.nurse.wait("the removal", ' RECV: <presence.*status code="(307|321)"')
        me.wait("two members", lambda: len(self.members()) == 2)
        me.wait_focus("list item", ".*")
        self.say("removed, as profanity sees it; the focus stays in the list")

    def destroys(self):
        me = self.person
        me.press("Actions")
        self.person.choose("Invite people …")
        me.wait_focus("text|entry", "Add a person")
        me.type("nurse@localhost")
        me.key("Return")
        me.press("Invite")
        self.nurse.wait("a second invitation", "(?s)" + self.INVITATION + ".*" + self.INVITATION)
        self.nurse.type(f"/join {self.room} nick nurse")
        me.wait_row("Members", "nurse, .*, present")
        self.juliet.picture("dino.png")
        me.press("Actions")
        self.person.choose("Delete for everyone …")
        me.press("Delete for everyone")
        me.see("label", "The group was deleted")
        self.nurse.wait("the end of the room", " RECV: <presence.*<destroy")
        self.say("deleted for everyone, as profanity sees it")
