"""What Orca says of the everyday parts, by keyboard alone: nothing is silent, nothing is said twice in a row, and each step says its words.

    stage PROGRAM everyday      PARTS="opens searches": some of the parts alone
"""
import os
import pathlib
import random
import re
import time

import actions
import files
import heard
import line
import person
import server as servers

CLASS = re.compile(r"\b(Adw|Gtk|Gdk)[A-Z]\w+|unnamed")
#: Messages that are on the server alone, and of which the first login reads none.
OLD = 40
PARTS = ("opens", "replies", "reacts", "corrects", "retracts", "deletes", "menu", "sends_file", "fails", "searches", "reads_older", "lists",
         "hides_password", "cancels_export", "logs_out")


class Everyday(heard.Heard):
    def run(self):
        self.line = line.Line()
        self.server.start()
        for user in ("romeo", "juliet", "nurse"):
            self.server.register(user, "secret-" + user)
        self.line.begin(self.server)
        try:
            self.prepare()
            with self.orca():
                self.parts()
        finally:
            self.line.end()
        self.person.end()

    def prepare(self):
        self.juliet = actions.Peer(self.server, "juliet", "secret-juliet")
        self.nurse = actions.Peer(self.server, "nurse", "secret-nurse")
        elsewhere = servers.OtherPerson(self.server, "romeo", "secret-romeo")
        for place in range(OLD):
            self.nurse.say("romeo@localhost", f"old {place:02}" + " of the holidays" * (place == 20))
        elsewhere.wait_for(f"old {OLD - 1:02}")
        # The archive's stamps are in seconds.
        time.sleep(2.1)
        server = f"localhost:{self.line.port}"
        self.kalij("login", "romeo@localhost", "--history-days", "0", "--server", server, "--ca", str(self.server.certificate),
                   env=os.environ | {"KALIJ_PASSWORD": "secret-romeo"})
        for name in ("Juliet", "Nurse"):
            self.kalij("add", name.lower() + "@localhost", "--name", name, "--wait")
        self.kalij("send", "nurse@localhost", "Good morrow, nurse")
        self.kalij("send", "juliet@localhost", "Good morrow")

    def parts(self):
        self.faults, self.steps = [], 0
        self.quiet()
        for part in os.environ.get("PARTS", " ".join(PARTS)).split():
            getattr(self, part)()
        self.say(f"{self.steps} steps; {len(self.said(0))} utterances")
        if self.faults:
            raise person.Lost("\n".join(self.faults))

    # Steps

    def step(self, what, do, *patterns, seconds=15):
        """What is said from here on has each of `patterns`; nothing twice in a row."""
        self.steps += 1
        before = len(self.spoken())
        do()
        end = time.monotonic() + seconds
        while (missing := self.missing(before, patterns)) and time.monotonic() < end:
            time.sleep(0.05)
        self.quiet()
        said = self.said(before)
        missing = self.missing(before, patterns)
        self.say(f"{what}: {said}")
        twice = [one for one, next in zip(said, said[1:]) if one.rstrip(".") == next.rstrip(".")]
        for fault, found in (("does not say", missing), ("says twice", twice), ("says classes", [one for one in said if CLASS.search(one)]),
                             ("is silent", [] if said else [what])):
            if found:
                self.faults.append(f"{what} {fault} {found}: {said}")
                print("FAULT", self.faults[-1], flush=True)

    def missing(self, before, patterns):
        said = self.said(before)
        return [pattern for pattern in patterns if not any(re.search(pattern, one) for one in said)]

    def keys(self, what, keys, *patterns, **options):
        self.step(what, lambda: self.person.key(*keys.split()), *patterns, **options)

    def write(self, text):
        self.person.type(text)
        self.quiet()

    def walk_to(self, text, key="Up", most=30):
        """Through the rows to the one with `text`, which is said at the last step."""
        for _ in range(most):
            if text in (self.person.focused().get_name() or ""):
                return
            self.person.key(key)
            time.sleep(0.4)
        raise person.Lost(f"{text!r} cannot be reached by {key}")

    def reach(self, role, name, key="Tab", most=15):
        for _ in range(most):
            node = self.person.focused()
            if node and re.fullmatch(role, node.get_role_name()) and re.fullmatch(name, node.get_name() or ""):
                return
            self.person.key(key)
            time.sleep(0.3)
        raise person.Lost(f"{name!r} cannot be reached by {key}")

    # The parts

    def opens(self):
        me = self.person
        self.step("the start", self.start, r"Juliet, You: Good morrow, \d\d:\d\d")
        self.keys("Return in the list", "Return", "Message to Juliet")
        me.wait_focus("text", person.MESSAGE)
        self.step("a message comes", lambda: self.juliet.say_as("q1", "Wherefore art thou Romeo?"), "Juliet: Wherefore art thou Romeo")
        self.keys("to the messages", "shift+F6", r"Juliet, \d\d:\d\d: Wherefore art thou Romeo\?")

        self.keys("Tab leaves the messages", "Tab", "Attach")
        self.keys("and back", "shift+Tab", r"Juliet, \d\d:\d\d: Wherefore")
        self.keys("and before them", "shift+Tab", "Contact: Juliet")
        self.keys("to the messages again", "Tab", r"Juliet, \d\d:\d\d: Wherefore")

    def replies(self):
        self.keys("Reply", "ctrl+r", "Reply to Juliet: Wherefore art thou Romeo")
        self.write("Call me but love")
        self.keys("Return sends", "Return", "notification Sent")
        self.juliet.wait_stanza("{urn:xmpp:reply:0}reply")
        self.keys("to the messages", "shift+F6", r"Juliet, \d\d:\d\d: Wherefore")
        self.keys("to the reply", "End", r"You, \d\d:\d\d, answers Juliet: .*Wherefore.*: Call me but love\. (Sent|Delivered)")

    def reacts(self):
        me = self.person
        me.key("Home")
        self.walk_to("Wherefore art thou Romeo?", "Down")
        self.quiet()
        self.keys("React", "ctrl+period", "Reaction", "^Thumbs up")
        self.keys("the next reaction", "Down", "^Heart")
        self.keys("choose the heart", "Return", r"Juliet, \d\d:\d\d: Wherefore art thou Romeo\?.*Reactions: .* yours")
        self.juliet.wait_stanza("{urn:xmpp:reactions:0}reactions")
        self.keys("the menu of the message", "Menu", "Reply")
        self.keys("to React", "Down", "React")
        self.keys("React by the menu", "Return", "^Thumbs up")
        self.keys("to the chooser", "Up", "Other emoji")
        self.keys("open it", "Return", "notification Type the name of an emoji")
        time.sleep(5)
        self.write("grin")
        time.sleep(1)
        self.keys("to the emoji", "Tab", "\N{GRINNING FACE}")
        self.keys("choose it", "Return", r"Juliet, \d\d:\d\d: Wherefore art thou Romeo\?.*Reactions: .* yours, .* yours")
        self.juliet.wait_stanza("{urn:xmpp:reactions:0}reactions", 2)

    def corrects(self):
        me = self.person
        self.keys("to the text", "F6", "Message to Juliet")
        self.write("It is the east")
        self.keys("Return sends", "Return", "notification Sent")
        self.juliet.wait_for("It is the east")
        me.wait_row("Messages", r"You, .*: It is the east\. (Sent|Delivered)")
        self.keys("Up corrects", "Up", "Correct the message: It is the east")
        self.keys("Escape ends it", "Escape", "Correction ended", "Message to Juliet")
        self.keys("to the messages", "shift+F6", r"Juliet, \d\d:\d\d: Wherefore")
        me.key("End")
        self.quiet()
        self.keys("Ctrl+E corrects", "ctrl+e", "Correct the message: It is the east")
        self.keys("Escape ends it again", "Escape", "Correction ended")
        self.keys("Up corrects again", "Up", "Correct the message: It is the east")
        me.key("ctrl+End")
        self.write(" indeed")
        self.keys("Return corrects", "Return", "notification Edited")
        self.juliet.wait_stanza("{urn:xmpp:message-correct:0}replace")
        self.keys("to the correction", "shift+F6", r"You, \d\d:\d\d: It is the east indeed\. Edited\. (Sent|Delivered)")

    def retracts(self):
        self.keys("Retract", "shift+Delete", "Retract this message for everyone", "Cancel", "It is the east indeed")
        self.keys("to Retract", "Tab", "Retract")
        self.keys("Return retracts", "Return", "Message removed")
        self.juliet.wait_stanza("{urn:xmpp:message-retract:1}retract")

    def deletes(self):
        self.juliet.say_as("d1", "Parting is such sweet sorrow")
        self.juliet.say_as("d2", "Good night")
        self.person.wait_row("Messages", ".*: Good night")
        self.quiet()
        self.walk_to("Parting is such", "Down")
        self.quiet()
        self.keys("Delete", "Delete", "1 message deleted here", "Good night")
        self.keys("Undo", "ctrl+z", "notification Undone")

    def menu(self):
        self.keys("the menu", "Menu", "Reply")
        self.keys("its next item", "Down", "React")
        self.keys("Escape", "Escape", r"(Juliet|You), \d\d:\d\d")

    def sends_file(self):
        me = self.person
        self.line.do("rate 20000")
        path = pathlib.Path(self.stage) / "verse.bin"
        path.write_bytes(random.randbytes(600_000))
        me.key("F6")
        me.wait_focus("text", person.MESSAGE)
        self.quiet()
        with files.clipboard("file", path):
            self.keys("paste a file", "ctrl+v", "verse.bin")
        self.keys("send it", "Return", "notification Uploading|Uploading")
        me.wait_row("Messages", r"You, .*File verse.bin.*Uploading, [1-9]\d? percent")
        me.key("shift+F6")
        self.keys("to its row", "End", r"You, \d\d:\d\d: File verse\.bin\. 600.KB, Uploading, \d+ percent")
        self.keys("Return stops it", "Return", "Stopped")
        me.wait_row("Messages", r"You, .*File verse.bin.*Stopped")
        self.keys("Return goes on", "Return", r"Uploading")
        self.line.do("rate 0")
        me.wait_row("Messages", r"You, .*File verse.bin.*(Sent|Delivered)")
        self.quiet()

    def fails(self):
        me = self.person
        self.keys("a new conversation", "ctrl+n", "Name or address")
        self.write("nobody@localhost")
        self.keys("start it", "Return", "Message to nobody@localhost")
        self.write("Is nobody there?")
        self.keys("Return sends", "Return", r"notification You: Is nobody there\? Not sent: .+")
        me.wait_row("Messages", "You, .*Is nobody there.*Not sent.*")
        self.keys("to its row", "shift+F6", r"You, \d\d:\d\d: Is nobody there\? Not sent: ")
        self.server.register("nobody", "secret-nobody")
        self.keys("Send again", "Return", "notification Sent")
        me.wait_row("Messages", r"You, .*Is nobody there\? (Sent|Delivered)")

    def searches(self):
        me = self.person
        self.keys("search", "ctrl+f", "Search")
        self.step("type", lambda: self.write("wherefore"), r"[1-9] results?")
        self.keys("to the results", "Tab", r"Juliet, message: Wherefore")
        self.keys("open it", "Return", r"Juliet, \d\d:\d\d: Wherefore art thou Romeo\?")
        self.keys("back to the results", "Escape", r"Juliet, message: Wherefore")
        self.keys("back to the list", "Escape", r"(Juliet|nobody@localhost|Nurse), ")

    def reads_older(self):
        me = self.person
        self.walk_to("Nurse, ", "Down", 5)
        self.quiet()
        self.keys("open the nurse", "Return", "Message to Nurse")
        me.wait_row("Messages", r"Nurse, .*old \d\d")
        self.quiet()
        self.keys("to the messages", "shift+F6", "You, .*Good morrow, nurse")
        self.keys("to older ones", "Page_Up", r"Nurse, \d\d:\d\d: old \d\d")
        for _ in range(20):
            me.key("Page_Up")
            time.sleep(0.5)
            if "beginning" in (me.focused().get_name() or ""):
                break
        self.quiet()
        self.keys("the second row", "Down", ".+")
        self.keys("the beginning", "Up", "The beginning of the conversation")

    def lists(self):
        me = self.person
        self.keys("to the list", "Escape", "Nurse, You: Good morrow, nurse|Nurse, ")
        for words, item, said in (("pin", "Pin", "Nurse, pinned, "), ("mute", "Mute", "Nurse, muted, pinned, ")):
            self.keys(f"menu to {words}", "Menu", ".+")
            for _ in range(8):
                if self.said(0)[-1].rstrip(".") == item:
                    break
                me.key("Down")
                self.quiet()
            self.keys(words, "Return", said)
        # The desktop's notification is heard, which this display has not.
        self.juliet.say_as("u1", "Art thou gone so?")
        me.wait_row("Conversations", "Juliet, 1 unread, Art thou gone so.*")
        self.walk_to("Juliet", "Down", 5)
        self.quiet()
        self.keys("away", "Up", ".+")
        self.keys("the unread one", "Down", "Juliet, 1 unread, Art thou gone so")

    def hides_password(self):
        """Neither what is said nor what a screen reader can ask for has a letter of a hidden password."""
        me, secret = self.person, "Wherefore-77"
        self.keys("the menu of the window", "F10", "Menu menu", "Settings")
        self.keys("to the item", "Down", "Add account")
        self.keys("add an account", "Return", "Address")
        before = len(self.spoken())
        self.keys("to the password", "Tab", "Password")
        self.step("type it", lambda: (self.write(secret), me.key("BackSpace", "7", "shift+Tab")), "Address")
        me.hides(secret)
        self.keys("to the password again", "Tab", "Password")
        self.step("its letters, by the arrows", lambda: me.key("End", "Left", "shift+Left"), "selected")
        self.step("the next field", lambda: me.key("Tab"), "Server")
        said = [one for one in self.said(before) if re.search("Wherefore|[Ww]her|Whe|efore|seven|77", one)]
        if said:
            self.faults.append(f"the password is said: {said}")
        self.keys("back to the list", "Escape", ".+")

    def cancels_export(self):
        me = self.person
        self.keys("the settings", "ctrl+comma", "Change your name …", "notification Settings")
        self.reach("push button", "Export …", most=20)
        self.quiet()
        me.key("Return")
        me.see("push button", ".*Cancel")
        time.sleep(1)
        self.keys("Escape cancels", "Escape", "notification The export was cancelled")

    def logs_out(self):
        self.reach("push button", "Log out …")
        self.quiet()
        self.keys("Log out", "Return", "Log out romeo@localhost here", "Cancel")
        self.reach("push button", "Log out, keep the messages", most=4)
        self.keys("to the welcome page", "Return", "Address", "notification .*romeo@localhost.*")
        self.keys("its menu", "F10", "Keyboard shortcuts")
        self.keys("out of it", "Escape", "Menu|Address")
