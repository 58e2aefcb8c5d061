"""Takes the pictures of Documentation/App.md: wide and narrow, light and dark."""
import os
import subprocess
import time

import person
import tour

LINES = [
    ("juliet", "O Romeo, Romeo, wherefore art thou Romeo?"),
    ("romeo", "Shall I hear more, or shall I speak at this?"),
    ("juliet", "How cam'st thou hither, tell me, and wherefore?\nThe orchard walls are high and hard to climb."),
    ("romeo", "With love's light wings did I o'erperch these walls; for stony limits cannot hold love out 🕊️"),
    ("juliet", "What o'clock tomorrow shall I send to thee?"),
    ("romeo", "By the hour of nine."),
    ("juliet", "I will not fail. 'Tis twenty year till then."),
]


class Pictures(tour.Stage):
    def run(self):
        people = dict(zip(("juliet", "nurse", "mercutio", "benvolio"), self.begin("juliet", "nurse", "mercutio", "benvolio")))
        self.log_in()
        driver = self.drive()
        try:
            for name in people:
                self.kalij("add", name + "@localhost", "--name", name.capitalize(), "--wait")
            room = next(word for word in self.kalij("room", "create", "Balcony", "--wait").split() if "@conference" in word).rstrip(":")
            self.kalij("send", room, "Is everybody here tonight?")
            people["benvolio"].say("romeo@localhost", "Part, fools! Put up your swords.")
            self.kalij("send", "mercutio@localhost", "Good heart, at what?")
            people["mercutio"].say("romeo@localhost", "A plague o' both your houses!", "They have made worms' meat of me.")
            people["nurse"].say("romeo@localhost", "Anon, anon! I come, madam.")
            self.kalij("send", "nurse@localhost", "Commend me to thy lady and mistress.")
            for name, text in LINES:
                if name == "juliet":
                    people["juliet"].say("romeo@localhost", text)
                    self.wait_history(text)
                else:
                    self.kalij("send", "juliet@localhost", text)
                    people["juliet"].wait_for(text)
        finally:
            driver.kill()
            driver.wait()
        for scheme in ("light", "dark"):
            self.wide(scheme)
            self.narrow(scheme)

    def wait_history(self, text):
        end = time.monotonic() + 20
        while text.split("\n")[0] not in self.kalij("history", "juliet@localhost"):
            if time.monotonic() > end:
                raise person.Lost("not arrived: " + text)

    def begin_app(self, scheme):
        self.person.start("--data", self.data, environment={"ADW_DEBUG_COLOR_SCHEME": "prefer-" + scheme})
        self.person.wait_row("Conversations", "Juliet.*")

    def shot(self, name):
        self.person.gone("label", "Connecting.*")
        time.sleep(0.7)  # animations end
        subprocess.run(["scrot", "--overwrite", "--focused", os.path.join(self.stage, name)], check=True, timeout=20)

    def wide(self, scheme):
        me = self.person
        self.begin_app(scheme)
        if not me.sees("list", "Messages"):
            me.select("Conversations", "Juliet.*")
            me.key("Return")
        me.wait_row("Messages", ".*I will not fail.*")
        me.wait_focus("text", person.MESSAGE)
        self.shot(f"app-wide-{scheme}.png")
        me.end()

    def narrow(self, scheme):
        me = self.person
        self.begin_app(scheme)
        me.wait_row("Messages", ".*I will not fail.*")
        subprocess.run(["xdotool", "getactivewindow", "windowsize", "--sync", "360", "640"], check=True, timeout=20)
        me.wait_focus("text", person.MESSAGE)
        self.shot(f"app-narrow-{scheme}.png")
        me.key("Escape")
        self.shot(f"app-list-{scheme}.png")
        me.end()
