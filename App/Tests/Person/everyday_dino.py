"""The everyday parts in Dino, by keyboard and under Orca, as far as Dino has them: which are reached, and what is heard.

    stage PROGRAM dino-everyday     as root, as `beside`
"""
import pathlib
import random
import re
import subprocess
import time

import dino
import files
import person

#: The ways around the window that Dino has: Tab, Shift+Tab and the arrows from the composer, from the search, and from the messages.
AROUND = ("Escape", "Page_Up", "Up", "Escape", "shift+Tab", *["shift+Tab"] * 6, "ctrl+f", *["Tab"] * 8, "ctrl+f", "Escape", "Menu", "Escape", "shift+F10",
          "Escape", "ctrl+r", "ctrl+period", "Delete", "shift+Delete")


class EverydayDino(dino.Beside):
    def run(self):
        dino.alone(self.stage)
        dino.trust(self.server.certificate)
        self.server.port = 5222
        self.juliet, = self.begin("juliet")
        self.server.register("mercutio", "secret-mercutio")
        self.it, self.lines = dino.Heard("Dino 0.4.2"), []
        with self.orca("-dino"):
            self.quiet()
            self.enter_dino()
            for part in (self.writes, self.messages, self.corrects, self.searches, self.sends_file, self.lists, self.fails):
                try:
                    part()
                except (person.Lost, subprocess.SubprocessError) as error:
                    self.note(part.__name__, False, [str(error).splitlines()[0]])
            self.person.end()
        print("\n".join(f"| {what} | {'heard' if is_heard else 'no'} | {'; '.join(said)[:300]}" for what, is_heard, said in self.lines), flush=True)

    def note(self, what, is_heard, said):
        self.lines.append((what, bool(is_heard), said))

    def step(self, what, pattern, *do):
        """Keys, or functions; heard is what was said since."""
        before = len(self.spoken())
        for one in do:
            self.hears(one if callable(one) else lambda: self.person.key(one))
            self.quiet()
        said = self.said(before)
        self.say(f"{what}: {said}")
        self.note(what, [one for one in said if re.search(pattern, one, re.I)], said)

    def typed(self, text):
        return lambda: self.person.type(text)

    def writes(self):
        self.send(self.it)
        self.step("a message that comes", "thou hither", lambda: self.juliet.say("mercutio@localhost", "How camest thou hither"))
        self.person.see(".*", ".*How camest thou hither.*")

    def messages(self):
        before = len(self.spoken())
        for key in AROUND:
            self.person.key(key)
            self.quiet()
        said = self.said(before)
        self.say(f"around the window: {said}")
        for what, pattern in (("read another's message", "thou hither"), ("reply", "reply"), ("react", "react|emoji"),
                              ("retract, or delete here", "delete|retract")):
            # What the list says of the last message is no reading of it.
            found = [one for one in said if re.search(pattern, one, re.I) and not dino.CONVERSATION.fullmatch(one)]
            self.note(what, found, found)
        self.person.key("Escape")

    def compose(self):
        """The focus to the composer, empty."""
        me = self.person
        me.key("Escape")
        for _ in range(12):
            node = me.focused()
            if node is not None and node.get_role_name() == "text" and "TextView" in (node.get_name() or ""):
                break
            me.key("Tab")
            time.sleep(0.3)
        else:
            raise person.Lost("the composer is not reached by Tab")
        me.key("ctrl+a", "BackSpace")
        self.quiet()

    def corrects(self):
        self.compose()
        self.step("Up corrects", "Good morrow|edit|correct", "Up")
        self.step("a correction was sent", "edited|sent", self.typed(" indeed"), "Return")
        self.juliet.wait_for("Good morrow indeed")

    def searches(self):
        self.compose()
        self.step("search", "search", "ctrl+f")
        self.step("the results", "thou hither|result|match", self.typed("camest"), "Tab", "Down")
        self.step("the place of a result", "thou hither", "Return")
        self.person.key("Escape", "ctrl+f")

    def sends_file(self):
        self.compose()
        path = pathlib.Path(self.stage) / "verse.bin"
        path.write_bytes(random.randbytes(200_000))
        with files.clipboard("file", path):
            self.step("attach a file", "verse", "ctrl+v")
        self.step("a file's progress", "verse|upload|percent|sending", "Return")
        self.step("stop a file", "stop|cancel|pause", "Tab", "Tab", "shift+Tab", "shift+Tab")
        self.person.key("Escape")

    def lists(self):
        self.compose()
        self.step("pinned, muted, hidden", "pin|mute|hide|close", "F6", "F10", "Down", "Down", "Escape", "alt+Up", "alt+Down")

    def fails(self):
        me = self.person
        me.key("Escape")
        self.step("why a text failed", "fail|error|not sent|not deliver", "ctrl+t", self.typed("nobody@localhost"), "Tab", "Return",
                  self.typed("Is nobody there?"), "Return", "Up", "Escape")
        self.step("send again", "again|retry|resend", "Tab", "Tab", "shift+Tab")
