"""Older history of one conversation: messages from before the first login here are on the server alone. Whoever scrolls up gets them, once,
in order, and nothing of other conversations, up to the beginning."""
import os
import re
import sqlite3
import time

import person
import scroll
import server as servers
import tour

OLD = 130


class Older(tour.Stage):
    def run(self):
        juliet, nurse = self.begin("juliet", "nurse")
        # Another device of romeo's is online, so that nothing waits for the first login here.
        elsewhere = servers.OtherPerson(self.server, "romeo", "secret-romeo")
        for place in range(OLD):
            juliet.say("romeo@localhost", f"old {place:03}")
            nurse.say("romeo@localhost", f"other {place:03}")
        elsewhere.wait_for(f"old {OLD - 1:03}")
        elsewhere.wait_for(f"other {OLD - 1:03}")
        # The archive's stamps are in seconds.
        time.sleep(2.1)
        self.kalij("login", "romeo@localhost", "--history-days", "0", "--server", f"localhost:{self.server.port}", "--ca",
                   str(self.server.certificate), env=os.environ | {"KALIJ_PASSWORD": "secret-romeo"})
        self.start()
        me = self.person
        juliet.say("romeo@localhost", "the newest")
        me.wait_row("Conversations", r"juliet@localhost, .*the newest.*")
        if self.stored("nurse@localhost"):
            raise person.Lost("the first reading has read more than requested")
        me.select("Conversations", r"juliet@localhost, .*")
        me.wait_focus("list item", r"juliet@localhost, .*")
        me.key("Return")
        me.wait_row("Messages", r"juliet@localhost, .*old 1\d\d.*")
        self.say("an open conversation of one message gets older ones from the server")
        me.picture("older.png")
        self.upwards()
        self.judge()
        self.again()
        me.end()
        self.warnings()

    def upwards(self):
        me = self.person
        me.key("shift+F6")
        me.wait_focus("list item", ".*")
        sight = scroll.Sight(me, r"old \d{3}|The beginning of the conversation")
        for _ in range(120):
            me.key("Page_Up")
            time.sleep(0.1)
            if "The beginning of the conversation" in sight.now():
                break
        else:
            raise person.Lost(f"no beginning: {sight.now()}{sight.why()}\n{me.rows('Messages')[:5]}")
        me.picture("beginning.png")
        rows = me.rows("Messages")
        if not re.match("The beginning of the conversation", rows[0]):
            raise person.Lost(f"not the first row: {rows[:3]}")
        seen = [re.search(r"old \d{3}", row)[0] for row in rows if "old " in row]
        if seen != [f"old {place:03}" for place in range(len(seen))]:
            raise person.Lost(f"not in order: {seen}")
        self.say(f"Page Up reads {OLD} messages of the server, in order, up to the beginning")

    def stored(self, jid):
        database = sqlite3.connect(f"file:{self.data}/kalij.db?mode=ro", uri=True)
        rows = database.execute("SELECT body FROM message WHERE conversation = ? AND shown = 1 ORDER BY position", (jid,)).fetchall()
        database.close()
        return [body for body, in rows]

    def judge(self):
        """Nothing twice, the server's order, nothing of others, nothing unread and no notification."""
        wanted = [f"old {place:03}" for place in range(OLD)] + ["the newest"]
        if self.stored("juliet@localhost") != wanted:
            raise person.Lost(f"stored: {self.stored('juliet@localhost')}")
        if self.stored("nurse@localhost"):
            raise person.Lost("messages of another conversation are stored")
        database = sqlite3.connect(f"file:{self.data}/kalij.db?mode=ro", uri=True)
        count = database.execute("SELECT count(*) FROM notification").fetchone()[0]
        database.close()
        if count > 1:
            raise person.Lost(f"{count} notifications")
        self.say("each is stored once, in the server's order, nothing of others, and none notifies")

    def again(self):
        """By command: what is complete is not requested again, and the rest of the archive is in order beside it."""
        me = self.person
        self.kalij("history", "nurse@localhost", "--older", "20")
        if self.stored("nurse@localhost") != [f"other {place:03}" for place in range(OLD)][-len(self.stored("nurse@localhost")):]:
            raise person.Lost(f"stored: {self.stored('nurse@localhost')}")
        me.wait_row("Conversations", r"nurse@localhost, other .*")
        self.kalij("history", "--older", "1000")
        wanted = [f"old {place:03}" for place in range(OLD)] + ["the newest"]
        if self.stored("juliet@localhost") != wanted or self.stored("nurse@localhost") != [f"other {place:03}" for place in range(OLD)]:
            raise person.Lost(f"after the whole archive: {self.stored('juliet@localhost')} {self.stored('nurse@localhost')}")
        self.say("the whole archive, read later, leaves each message once and in order")
