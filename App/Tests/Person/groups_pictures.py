"""Takes pictures of the screens of groups and people: wide, narrow, dark, with texts twice as large, from right to left.

    stage PROGRAM groups-pictures
"""
import pathlib
import subprocess
import time

import people
import person
import pictures
import tour

LOOKS = {"wide": {}, "dark": {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark"}, "narrow": {}, "large": {"LOOK_TEXT": "200"}, "rtl": {"LOOK_RTL": "1"},
         "long": {"LANGUAGE": "eo"}}


def desktop(stage):
    """Builds `looks.c`. Returns the environment of a program that has its settings."""
    library = stage + "/looks.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, pathlib.Path(__file__).with_name("looks.c")], check=True)
    return {"LD_PRELOAD": library}


class GroupsPictures(tour.Stage):
    shot = pictures.Pictures.shot

    def run(self):
        settings = desktop(self.stage)
        self.server.start()
        for user in ("romeo", "juliet", "nurse"):
            self.server.register(user, "secret-" + user)
        self.juliet, self.nurse = (people.Guest(self.server, user, "secret-" + user) for user in ("juliet", "nurse"))
        self.log_in()
        self.kalij("add", "juliet@localhost", "--name", "Juliet")
        picture = self.stage + "/balcony.png"
        subprocess.run(["scrot", "--overwrite", picture], check=True, timeout=20)
        made = self.kalij("room", "create", "Balcony", "--invite", "juliet@localhost,nurse@localhost")
        room = next(word for word in made.split() if "@conference" in word).rstrip(":,")
        self.juliet.wait_invited()
        self.kalij("room", "subject", room, "Names and roses, and by which other name they would smell as sweet")
        self.kalij("send", "juliet@localhost", "Good morrow")
        self.nurse.raw("<presence to='romeo@localhost' type='subscribe'><nick xmlns='http://jabber.org/protocol/nick'>Angelica</nick></presence>")
        self.juliet.create("feast@conference.localhost", "Great hall")
        self.juliet.raw("<message to='romeo@localhost'><x xmlns='jabber:x:conference' jid='feast@conference.localhost' reason='A feast'/></message>")
        time.sleep(1)
        for look, environment in LOOKS.items():
            self.look(look, environment | settings)

    def look(self, look, environment):
        me = self.person
        self.start(**environment)
        me.wait("the list", lambda: me.sees("list item", "Balcony.*"))
        if look == "narrow":
            subprocess.run(["xdotool", "getactivewindow", "windowsize", "--sync", "360", "640"], check=True, timeout=20)
        time.sleep(1)
        me.key("ctrl+shift+n")
        me.wait_focus("text|entry", ".*")
        me.type("Balcony")
        me.key("Return")
        time.sleep(0.5)
        me.type("nurse@localhost")
        me.key("Return")
        self.shot(f"{look}-new-group.png")
        me.key("Escape")
        time.sleep(0.5)
        me.key("ctrl+shift+r")
        time.sleep(1)
        self.shot(f"{look}-requests.png")
        me.key("Escape")
        if look == "narrow":
            me.key("Escape")
        for name in ("Balcony", "Juliet"):
            me.wait(name, lambda: self.select(name))
            time.sleep(0.3)
            me.key("Return")
            time.sleep(1)
            if name == "Balcony":
                self.shot(f"{look}-conversation.png")
            me.key("ctrl+i")
            time.sleep(1)
            self.shot(f"{look}-{name.lower()}.png")
            me.key("Escape")
            time.sleep(0.3)
            if look == "narrow":
                me.key("Escape")
        me.end()

    def select(self, name):
        """In any language."""
        for held in self.person.nodes("list"):
            for place in range(held.get_child_count()):
                row = held.get_child_at_index(place)
                if row is not None and (row.get_name() or "").startswith(name):
                    return person.Atspi.Selection.select_child(held, place)
        return False
