#!/usr/bin/python3
"""The README's bot as one would write it with slixmpp: messages, also those of the archive since the last start, are answered once.

usage: mam_bot.py JID PASSWORD HOST PORT CA DATABASE

A message is noted in SQLite, and then answered: what comes again, from the archive or live, is known. Compared with the README's bot by
`Scripts/long bot-table`.
"""
import asyncio
import sqlite3
import sys

import slixmpp


class Echo(slixmpp.ClientXMPP):
    def __init__(self, jid, password, database):
        super().__init__(jid, password)
        self.database = sqlite3.connect(database)
        self.database.execute("CREATE TABLE IF NOT EXISTS handled(id TEXT PRIMARY KEY, number INTEGER)")
        self.live = asyncio.Queue()  # waits until the archive is read
        for plugin in ["xep_0198", "xep_0199", "xep_0313", "xep_0359"]:
            self.register_plugin(plugin)
        self.add_event_handler("session_start", self.start)
        self.add_event_handler("message", self.live.put_nowait)

    async def start(self, _):
        print("online", flush=True)
        self.send_presence()
        await self.get_roster()
        last = self.database.execute("SELECT id FROM handled ORDER BY number DESC LIMIT 1").fetchone()
        if last:
            async for result in self["xep_0313"].iterate(rsm={"after": last[0], "max": 50}):
                await self.handle(result["mam_result"]["id"], result["mam_result"]["forwarded"]["stanza"])
        else:  # What was archived before the first start is not answered.
            async for result in self["xep_0313"].iterate(reverse=True, total=1):
                self.note(result["mam_result"]["id"])
        while True:
            message = await self.live.get()
            await self.handle(message["stanza_id"]["id"], message)

    def note(self, id):
        with self.database:
            added = self.database.execute("INSERT OR IGNORE INTO handled SELECT ?, count(*) FROM handled", [id])
        return added.rowcount > 0

    async def handle(self, id, message):
        if message["type"] == "chat" and message["body"] and message["from"].bare != self.boundjid.bare and self.note(id):
            self.send_message(mto=message["from"].bare, mbody="You said: " + message["body"], mtype="chat")
            await asyncio.sleep(0.001)  # lets the answer leave before the next is noted


jid, password, host, port, ca, database = sys.argv[1:]
bot = Echo(jid, password, database)
bot.ca_certs = ca
bot.connect((host, int(port)))
bot.process()
