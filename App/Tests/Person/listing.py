"""Conversations that are pinned, hidden and muted: by the menu of the list, and by another process.

    stage PROGRAM listing
"""
import json

import person
import tour

NAMES = ("juliet", "nurse", "paris")


class Listing(tour.Stage):
    def run(self):
        self.others = dict(zip(NAMES, self.begin(*NAMES)))
        self.log_in()
        for name in NAMES:
            self.kalij("send", name + "@localhost", "Good morrow, " + name)
        self.start()
        me = self.person
        me.wait("three conversations", lambda: len(self.order()) == 3)
        self.expect(["paris", "nurse", "juliet"])
        self.pins()
        self.hides()
        self.mutes()
        self.marks_read()
        self.elsewhere()
        me.end()
        self.warnings()

    def order(self):
        """The names in the list."""
        return [(row or "").split("@")[0] for row in self.person.rows("Conversations")]

    def expect(self, names):
        self.person.wait(f"the list {names}", lambda: self.order() == names)

    def choose(self, name, *words):
        """By the Menu key."""
        me = self.person
        me.wait_focus("list item", ".*")
        me.select("Conversations", name + "@localhost.*")
        me.wait("the row of " + name, lambda: any(
            "SELECTED" in person.states(node) for node in me.nodes("list item", name + "@localhost.*")))
        me.key("Menu")
        for item in words:
            me.see("menu item", item)
        if words[-1] == "Pin":
            me.picture("list-menu.png")
        me.choose(words[-1])

    def setting(self, name, key):
        return json.loads(self.kalij("--json", "settings", name + "@localhost")).get(key)

    def pins(self):
        me = self.person
        self.choose("juliet", "Hide until the next message", "Mute for 1 hour", "Pin")
        self.expect(["juliet", "paris", "nurse"])
        row = me.wait_row("Conversations", "juliet@localhost, pinned, .*")
        if self.setting("juliet", "pinned") is not True:
            raise person.Lost("another process does not see it pinned")
        self.others["nurse"].say("romeo@localhost", "Good morrow, sir")
        self.expect(["juliet", "nurse", "paris"])
        self.say(f"pinned: {row!r}")

    def hides(self):
        me = self.person
        self.choose("paris", "Hide until the next message")
        self.expect(["juliet", "nurse"])
        me.picture("list-hidden.png")
        me.press("Undo")
        self.expect(["juliet", "nurse", "paris"])
        self.choose("paris", "Hide until the next message")
        self.expect(["juliet", "nurse"])
        if "paris" in self.kalij("chats") or "(hidden)" not in self.kalij("chats", "--hidden"):
            raise person.Lost("another process does not see it hidden")
        me.kill()
        self.start()
        self.expect(["juliet", "nurse"])
        me.key("ctrl+k")
        me.type("paris")
        me.wait_row("Conversations", "paris@localhost, hidden, .*")
        me.key("Escape")
        self.expect(["juliet", "nurse"])
        self.others["paris"].say("romeo@localhost", "These times of woe")
        self.expect(["juliet", "paris", "nurse"])
        self.say("hidden, across a kill, found by a search, and listed again with the next message")

    def mutes(self):
        me = self.person
        self.choose("paris", "Mute", "Mute for 1 hour")
        me.wait_row("Conversations", "paris@localhost, .*muted.*")
        if not self.setting("paris", "muted_until"):
            raise person.Lost("there is no end of the silence")
        self.choose("paris", "Unmute")
        me.wait("no longer muted", lambda: not any("muted" in row for row in me.rows("Conversations")))
        self.choose("paris", "Mute")
        me.wait_row("Conversations", "paris@localhost, .*muted.*")
        if self.setting("paris", "notify") != "none":
            raise person.Lost("it is not muted")
        self.choose("paris", "Notify of all messages")
        me.wait("no longer muted", lambda: not any("muted" in row for row in me.rows("Conversations")))
        self.say("muted for an hour, and until that is ended")

    def marks_read(self):
        me = self.person
        me.wait_row("Conversations", "nurse@localhost, 1 unread, .*")
        self.choose("nurse", "Mark as read")
        me.wait("nothing unread of nurse", lambda: not any("nurse@localhost, 1 unread" in row for row in me.rows("Conversations")))
        self.say("marked as read without being opened")

    def elsewhere(self):
        me = self.person
        self.kalij("settings", "juliet@localhost", "pinned=off")
        self.expect(["paris", "nurse", "juliet"])
        self.kalij("settings", "nurse@localhost", "pinned=on", "notify=none")
        me.wait_row("Conversations", "nurse@localhost, muted, pinned, .*")
        self.expect(["nurse", "paris", "juliet"])
        self.say("what another process sets is shown")
