"""A group is managed, and the app is killed just after each change: what was accepted is done, as the others see it, and once;
what was not is as before.

    stage PROGRAM groups-changes     CHANGES=12, SEED=1
"""
import os
import random
import sqlite3
import time

import groups
import people
import person
import tour

CHANGES = int(os.environ.get("CHANGES", "12"))
SEED = int(os.environ.get("SEED", "1"))
#: How long the app lives after the last key at most, in seconds.
LIFE = 0.6


class Changes(tour.Stage):
    members, open_members = groups.Groups.members, groups.Groups.open_members

    def run(self):
        self.server.start()
        for user in ("romeo", "juliet", "nurse"):
            self.server.register(user, "secret-" + user)
        self.juliet, self.nurse = (people.Guest(self.server, user, "secret-" + user) for user in ("juliet", "nurse"))
        self.log_in()
        self.room = self.kalij("room", "create", "Balcony", "--invite", "juliet@localhost,nurse@localhost").split()[-1]
        self.room = self.juliet.wait_invited()
        self.nurse.wait_invited()
        self.database = sqlite3.connect(f"file:{self.data}/kalij.db?mode=ro", uri=True)
        self.wanted = {"name": "Balcony", "topic": "", "juliet": "member", "nurse": True}
        self.dice, self.accepted = random.Random(SEED), 0
        self.start()
        self.person.wait_row("Conversations", "Balcony.*")
        self.open("Balcony")
        begun = time.monotonic()
        for turn in range(CHANGES):
            self.turn(turn)
        self.say(f"{CHANGES} changes, each with a kill, in {time.monotonic() - begun:.0f} s: {self.accepted} were accepted and are done once, "
                 "the others are as before")
        if self.accepted < CHANGES // 4:
            raise person.Lost("hardly a change was accepted before its kill")
        self.person.end()
        self.warnings()

    def intents(self):
        return self.database.execute("SELECT count(*), count(problem), sum(coalesce(problem, '') <> '') FROM intent WHERE name <> 'lookup'").fetchone()

    def stored(self):
        """The name of the group in the directory."""
        return self.database.execute("SELECT name FROM room").fetchone()[0]

    def turn(self, turn):
        me = self.person
        try:
            me.wait(f"the name {self.wanted['name']}", lambda: self.stored() == self.wanted["name"])
        except person.Lost:
            for table in ("room", "request", "queue", "intent"):
                print(table, self.database.execute(f"SELECT * FROM {table}").fetchall()[-4:])
            raise
        me.wait_row("Conversations", self.wanted["name"] + ".*")
        self.open_members()
        me.wait("the members", lambda: len(self.members()) == 2 + self.wanted["nurse"])
        before, change = self.intents()[0], dict(self.wanted)
        self.dice.choice((self.rename, self.retitle, self.appoint, self.move))(turn, change)
        time.sleep(self.dice.uniform(0, LIFE))
        me.kill()
        self.start()
        me.see("list", "Messages|Conversations")
        after = me.wait("the end of all changes", lambda: (found := self.intents())[0] == found[1] and found)
        if after[2]:
            raise person.Lost(f"a change has failed: {self.database.execute('SELECT * FROM intent').fetchall()[-3:]}")
        if after[0] - before > 1:
            raise person.Lost(f"{change}: accepted {after[0] - before} times")
        if after[0] > before:
            self.accepted += 1
            self.wanted = change
        me.wait(f"what is wanted, after change {turn}: {self.wanted}", lambda: self.seen() == self.wanted)

    def seen(self):
        """The group as juliet sees it."""
        rooms = self.juliet.client["xep_0045"].rooms[self.room]
        return {"name": self.juliet.name_of(self.room)[0], "topic": (self.juliet.subjects or [""])[-1],
                "juliet": rooms["juliet"]["affiliation"], "nurse": "nurse" in rooms}

    # The changes

    def field(self, item, name, text):
        me = self.person
        me.press("Actions")
        self.person.choose(item)
        me.wait_focus("text|entry", name)
        me.enter(name, text)
        me.key("Return")

    def rename(self, turn, change):
        change["name"] = f"Balcony {turn}"
        self.field("Rename …", "Group name", change["name"])

    def retitle(self, turn, change):
        change["topic"] = f"Topic {turn}"
        self.field("Change the topic …", "Topic", change["topic"])

    def appoint(self, _, change):
        is_admin = change["juliet"] == "admin"
        change["juliet"] = "member" if is_admin else "admin"
        groups.Groups.member(self, "juliet", "Revoke the rights of an admin" if is_admin else "Make an admin")

    def move(self, _, change):
        me = self.person
        if change["nurse"]:
            groups.Groups.member(self, "nurse", "Remove from the group …")
            me.see("push button", "Remove")
            me.press("Remove")
        else:
            me.press("Actions")
            self.person.choose("Invite people …")
            me.wait_focus("text|entry", "Add a person")
            me.enter("Add a person", "nurse@localhost")
            me.press("Invite")
        change["nurse"] = not change["nurse"]
