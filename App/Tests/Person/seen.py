"""Pictures of the first start, a new account, settings, devices and their codes: wide, narrow, dark, with high contrast, with text of 200 %, from right to
left, in German, and with the long texts of the pseudo-locale. They are for eyes; what has the focus must be within the window.

    KEEP=FOLDER VARIANTS=narrow,german stage PROGRAM seen
"""
import os
import subprocess
import time

import groups_pictures
import person
import trust

VARIANTS = {
    "wide": {},
    "narrow": {},
    "dark": {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark"},
    "contrast": {"ADW_DEBUG_HIGH_CONTRAST": "1"},
    "large": {"LOOK_TEXT": "200"},
    # GTK has a catalog that says that Arabic is written from right to left; the texts of the app stay English.
    "rtl": {"LANGUAGE": "ar"},
    "german": {"LANGUAGE": "de"},
    "pseudo": {"LANGUAGE": "eo"},
    "narrow-german": {"LANGUAGE": "de"},
    "narrow-large": {"LOOK_TEXT": "200"},
}


class Seen(trust.Trust):
    def run(self):
        self.begin()
        self.server.register("juliet", "secret-juliet")
        self.log_in()
        self.settings = groups_pictures.desktop(self.stage)
        phone = trust.Device(self, "juliet", "phone")
        try:
            self.kalij("add", "juliet@localhost", "--name", "Juliet")
            self.kalij("send", "juliet@localhost", "Good morrow", "--confirm")
            self.kalij("omemo", "on", "juliet@localhost")
            phone.kalij("omemo", "on", "romeo@localhost")
            wanted = os.environ.get("VARIANTS", ",".join(VARIANTS)).split(",")
            for name in wanted:
                self.variant(name)
        finally:
            phone.end()
        self.warnings()

    def variant(self, name):
        self.name = name
        self.first_start(self.data + "-none-" + name)
        self.logged_in()

    def begin_app(self, data):
        me = self.person
        trust_file = {"SSL_CERT_FILE": str(self.server.certificate)}
        me.start("--data", data, environment=trust_file | self.settings | VARIANTS[self.name], log=f"{self.name}.log")
        me.wait("a window", lambda: me.focused())
        if self.name.startswith("narrow"):
            subprocess.run(["xdotool", "getactivewindow", "windowsize", "--sync", "360", "640"], check=True, timeout=20)
        time.sleep(0.8)

    def shot(self, what):
        time.sleep(0.8)
        self.inside(what)
        subprocess.run(["scrot", "--overwrite", "--focused", os.path.join(self.stage, f"{self.name}-{what}.png")], check=True, timeout=20)

    def inside(self, what):
        """What has the focus is not beyond the right or the left side of its window."""
        me = self.person
        node = me.focused()
        window = node
        while window.get_role_name() not in ("frame", "dialog", "window"):
            window = window.get_parent()
        place = node.get_component_iface().get_extents(person.Atspi.CoordType.WINDOW)
        frame = window.get_component_iface().get_extents(person.Atspi.CoordType.WINDOW)
        if place.x < -1 or place.x + place.width > frame.width + 60:
            raise person.Lost(f"{self.name}-{what}: {node.get_name()!r} is beyond its window: {place.x}+{place.width} of {frame.width}")

    def tab(self, times):
        self.person.key(*["Tab"] * times)

    def first_start(self, data):
        me = self.person
        self.begin_app(data)
        self.shot("start")
        # Five stops behind the address: password, its peek, server, log in, invitation, new account.
        self.to_button(-1)
        me.key("Return")
        self.shot("server")
        me.key("Return")
        self.shot("no-server")
        me.key("Escape")
        time.sleep(0.5)
        self.to_button(-2)
        me.key("Return")
        self.shot("invitation")
        me.end()

    def to_button(self, place):
        """Focuses one of the buttons of the first start by Tab, whatever its language."""
        me = self.person
        names = [node.get_name() for node in me.nodes("push button") if "FOCUSABLE" in person.states(node)]
        wanted = [name for name in names if name not in ("Close", "Minimize", "Maximize")]
        target = self.words()[place]
        for _ in range(20):
            node = me.focused()
            if node and node.get_name() == target:
                return
            me.key("Tab")
            time.sleep(0.15)
        raise person.Lost(f"{self.name}: no {target} among {wanted}")

    def words(self):
        return [self.translated("I have an invitation"), self.translated("New account")]

    def translated(self, text):
        language = VARIANTS[self.name].get("LANGUAGE")
        folder = os.path.dirname(os.environ["KALIJ_APP"]) + f"/locale/{language}"
        if not language or not os.path.isdir(folder):
            return text
        import gettext
        return gettext.translation("kalij-app", os.path.dirname(folder), [language]).gettext(text)

    def logged_in(self):
        me = self.person
        self.begin_app(self.data)
        me.wait("online", lambda: "others can encrypt" in self.kalij("omemo"))
        me.key("ctrl+comma")
        me.wait_focus("check box", ".*")
        self.shot("settings")
        self.tab(12)
        self.shot("settings-end")
        me.key("Escape")
        time.sleep(0.4)
        me.key("ctrl+shift+d")
        me.wait_focus("list item", ".*")
        self.shot("own-devices")
        me.key("Tab")
        me.key("Return")
        me.wait("a dialog", lambda: me.app.get_child_count() > 1)
        self.shot("code")
        me.key("Escape")
        time.sleep(0.5)
        me.key("Escape")
        time.sleep(0.3)
        me.end()
