"""2,000 conversations with 100,000 messages: the time to the list, to an open conversation, the memory and the work until nothing moves."""
import os
import re
import sqlite3
import time

import person
import tour

CONVERSATIONS, EACH = 2000, 50
ROW = """INSERT INTO message(account, direction, conversation, position, archive, stanza_id, message_id, sender, recipient, type, body, sent_at,
    received_at, shown) VALUES (1, 'in', ?1, ?2, '', ?3, ?3, ?1 || '/x', 'romeo@localhost', 'chat', ?4, ?5, ?5, 1)"""


class Many(tour.Stage):
    def fill(self):
        database = sqlite3.connect(self.data + "/kalij.db")
        now = int(time.time() * 1000) - CONVERSATIONS * EACH * 1000
        with database:
            for place in range(CONVERSATIONS * EACH):
                jid = f"person{place % CONVERSATIONS:04}@localhost"
                database.execute(ROW, (jid, place + 1, f"s{place}", f"message {place} of a long life, which goes on and on", now + place * 1000))
        database.close()

    def run(self):
        self.begin()
        self.log_in()
        self.fill()
        me = self.person
        begun = time.monotonic()
        me.start("--data", self.data)
        me.wait_row("Conversations", r"person1999@localhost, .*")
        self.say(f"{1000 * (time.monotonic() - begun):.0f} ms from the start to the list, as seen by the tree")
        cpu = self.idle()
        self.say(f"then idle after {cpu} ms of CPU, {self.memory()} MB of own memory (RssAnon)")
        me.select("Conversations", r"person1990@localhost, .*")
        begun = time.monotonic()
        me.key("Return")
        me.wait_row("Messages", r"person1990@localhost, .*message 99990.*")
        self.say(f"{1000 * (time.monotonic() - begun):.0f} ms from Return to the open conversation, as seen by the tree")
        me.picture("many.png")
        before = self.cpu()
        time.sleep(10)
        self.say(f"{self.cpu() - before} ms of CPU in 10 s of nothing, {self.memory()} MB")
        me.end()
        self.warnings()

    def idle(self):
        last = self.cpu()
        for _ in range(60):
            time.sleep(0.5)
            now = self.cpu()
            if now == last:
                return now
            last = now
        raise person.Lost("the app is never idle")

    def memory(self):
        return int(re.search(r"RssAnon:\s+(\d+)", open(f"/proc/{self.person.program.pid}/status").read())[1]) // 1024
