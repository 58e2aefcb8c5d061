"""A group is created, and the app is killed in each stage of the creation: it goes on, there is one group with its picture, and
everybody is invited once.

    stage PROGRAM groups-kills     ROUNDS=1 times each stage
"""
import os
import sqlite3
import subprocess
import time

import people
import person
import tour

STAGES = ("finding", "entering", "asking", "configuring", "checking", "picturing", "adding")
ROUNDS = int(os.environ.get("ROUNDS", "1"))


class Kills(tour.Stage):
    choose_file = people.People.choose_file

    def run(self):
        self.server.start()
        for user in ("romeo", "juliet", "nurse"):
            self.server.register(user, "secret-" + user)
        self.others = [people.Guest(self.server, user, "secret-" + user, joins=False) for user in ("juliet", "nurse")]
        self.log_in()
        self.start()
        self.person.wait_focus("push button", "New conversation")
        self.database = sqlite3.connect(f"file:{self.data}/kalij.db?mode=ro", uri=True)
        self.hit = {}
        begun = time.monotonic()
        for turn in range(ROUNDS):
            for stage in STAGES:
                self.create(f"{stage} {turn}", stage)
        missed = [stage for stage in STAGES if not self.hit.get(stage)]
        self.say(f"{ROUNDS * len(STAGES)} kills in {time.monotonic() - begun:.0f} s, in their stage: {self.hit}")
        if len(missed) > len(STAGES) // 2:
            raise person.Lost(f"never killed in {missed}")
        self.judge()
        self.person.end()
        self.warnings()

    def stage_of(self, title):
        row = self.database.execute("SELECT stage FROM room_plan WHERE title = ?", (title,)).fetchone()
        return row and row[0]

    def create(self, title, stage):
        me = self.person
        time.sleep(0.3)
        # A window whose program was killed with its chooser of files leaves the focus nowhere.
        subprocess.run(["xdotool", "search", "--onlyvisible", "--name", "^Kalij$", "windowfocus", "--sync"], check=True, timeout=20)
        me.press("New conversation")
        me.press("New group")
        me.wait_focus("text|entry", "Group name")
        me.enter("Group name", title)
        me.key("Return")
        me.wait_focus("text|entry", "Add a person")
        me.enter("Add a person", "juliet@localhost")
        me.key("Return")
        me.see("push button", "Remove juliet@localhost")
        me.press("Choose a picture …")
        self.choose_file("group.png", people.PNG)
        me.see("push button", "Remove the picture")
        me.enter("Add a person", "nurse@localhost")
        me.press("Create")
        end = time.monotonic() + 10
        while time.monotonic() < end:
            now = self.stage_of(title)
            if now == stage or now is None and self.room(title):
                break
        me.kill()
        if self.stage_of(title) == stage:
            self.hit[stage] = self.hit.get(stage, 0) + 1
        self.start()
        me.wait_row("Conversations", f"{title}.*")
        me.wait("the end of the creation", lambda: self.stage_of(title) is None and self.room(title))
        me.wait("one row", lambda: len([row for row in me.rows("Conversations") if row.startswith(title)]) == 1)
        # The list begins with twenty rows.
        self.kalij("settings", self.room(title)[1], "hidden=on")

    def room(self, title):
        rows = self.database.execute("SELECT id, jid FROM room WHERE name = ? AND wanted = 1", (title,)).fetchall()
        if len(rows) > 1:
            raise person.Lost(f"{title}: {rows}")
        return rows and rows[0]

    def judge(self):
        """One group each, with everybody in it and invited once; no half-made one."""
        time.sleep(2)
        titles = [f"{stage} {turn}" for turn in range(ROUNDS) for stage in STAGES]
        wanted = self.database.execute("SELECT jid, name FROM room WHERE wanted = 1").fetchall()
        if sorted(name for _, name in wanted) != sorted(titles):
            raise person.Lost(f"groups: {wanted}")
        for jid, name in wanted:
            number, _ = self.room(name)
            members = self.database.execute("SELECT jid FROM room_member WHERE room = ? ORDER BY jid", (number,)).fetchall()
            if [member for member, in members] != ["juliet@localhost", "nurse@localhost", "romeo@localhost"]:
                raise person.Lost(f"{name}: {members}")
            if self.others[0].picture_of(jid) != people.PNG:
                raise person.Lost(f"{name} has another picture, or none")
            for other in self.others:
                if other.invited.count(jid) != 1:
                    raise person.Lost(f"{other.jid} was invited {other.invited.count(jid)} times to {name}")
        for other in self.others:
            if len(other.invited) != len(titles):
                raise person.Lost(f"{other.jid} was invited to a group that is not: {other.invited}")
        self.say("one group each with its picture, everybody in it and invited once")
