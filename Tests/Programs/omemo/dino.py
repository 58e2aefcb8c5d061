#!/usr/bin/python3
"""Runs Dino 0.4.2 with OMEMO 0.3 under Xvfb, in a network of its own. Speaks JSON lines, as omemo_peer.py does.

dino.py FOLDER JID PORT CA [--contact JID]... [--plain JID]... [--room JID/NICK]... [--https PORT]

JID has the domain localhost. FOLDER holds all files of the client and stays for a restart. The password comes from
DINO_PASSWORD. Needs dino-im, xvfb, xdotool, dbus-daemon, libglib2.0-bin, dnsmasq-base, iproute2; no window manager.

The account, and an open conversation with OMEMO on for each contact and room, are written into Dino's database before
Dino starts (Dino makes the empty database in a first start of its own). Dino enters the rooms by itself; they are
bookmarked before, because without a bookmark it does so on some starts only.

Commands, one JSON object a line on standard input:
  {"do":"send","to":JID,"body":TEXT}     typed into the conversation's window; ASCII only
  {"do":"send","room":JID,"body":TEXT}
  {"do":"shot","file":PATH}              a picture of the window (needs imagemagick)
  {"do":"quit"}                          so does the end of input
Reports: online (with device and fingerprint), message, sent, undecryptable (Dino's own text in the body), failed.

Results are read from FOLDER/data/dino/dino.db: table message, encryption 2 is OMEMO, direction 1 is sent, marked 1 is
received by the server. FOLDER/out has all stanzas, names written as {namespace}:name (--print-xmpp=all).
Keys: FOLDER/data/dino/omemo.db. With --https the upload service is reachable; received files are in
FOLDER/data/dino/files. --plain is a contact without OMEMO.
"""
import argparse
import base64
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time

import sandbox
from sandbox import rows, say, wait

OMEMO, CHAT, GROUPCHAT = 2, 0, 1


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("jid")
    parser.add_argument("port", type=int)
    parser.add_argument("ca")
    parser.add_argument("--contact", action="append", default=[])
    parser.add_argument("--room", action="append", default=[])
    parser.add_argument("--https", type=int)
    parser.add_argument("--plain", action="append", default=[])
    return parser.parse_args()


class Dino:
    def __init__(self, options):
        self.options = options
        self.folder = os.path.abspath(options.folder)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self.database = self.folder + "/data/dino/dino.db"
        self.keys = self.folder + "/data/dino/omemo.db"
        if options.room:
            sandbox.bookmark(options, os.environ.get("DINO_PASSWORD", ""))
        self.processes = sandbox.enter(options.port, os.path.abspath(options.ca), self.folder, options.https)
        server, self.screen = sandbox.display(self.folder)
        self.processes.append(server)
        self.environment = {
            **os.environ, "DISPLAY": self.screen, "HOME": self.folder, "XDG_DATA_HOME": self.folder + "/data",
            "XDG_CONFIG_HOME": self.folder + "/config", "XDG_CACHE_HOME": self.folder + "/cache",
            "XDG_RUNTIME_DIR": self.folder + "/run", "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
            "LIBGL_ALWAYS_SOFTWARE": "1", "LANG": "C.UTF-8", "GSETTINGS_BACKEND": "memory", "NO_PROXY": "*"}
        self.environment.pop("DINO_PASSWORD", None)
        self.environment.pop("DBUS_SESSION_BUS_ADDRESS", None)
        os.makedirs(self.folder + "/run", mode=0o700, exist_ok=True)
        self.reported = 0
        self.unsure = set()

    def start(self):
        address = self.folder + "/bus"
        if os.path.exists(address):
            os.unlink(address)
        self.place = os.path.getsize(self.folder + "/out") if os.path.exists(self.folder + "/out") else 0
        with open(self.folder + "/out", "ab") as log:
            process = subprocess.Popen(
                ["dbus-run-session", "--", "sh", "-c",
                 'echo "$DBUS_SESSION_BUS_ADDRESS" >"$0"; exec dino-im --print-xmpp=all', address],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=sandbox.with_us)
        self.processes.append(process)
        self.dino = process
        wait(20, "the session bus", lambda: os.path.exists(address) and os.path.getsize(address))
        with open(address, encoding="ascii") as file:
            self.environment["DBUS_SESSION_BUS_ADDRESS"] = file.read().strip()

    def output(self):
        with open(self.folder + "/out", encoding="utf-8", errors="replace") as file:
            file.seek(self.place)
            return re.sub(r"\x1b\[[0-9;]*m", "", file.read())

    def prepare(self):
        """Makes the database, and puts the account and the conversations into it."""
        if not rows(self.database, "SELECT 1 FROM account"):
            self.start()
            wait(30, "Dino's empty database", lambda: rows(
                self.database, "SELECT 1 FROM sqlite_master WHERE name='settings_conversationid_key'"))
            wait(30, "Dino's empty database of keys", lambda: rows(self.keys, "SELECT 1 FROM sqlite_master"))
            time.sleep(1)
            sandbox.end([self.processes.pop()])
        link = sqlite3.connect(self.database, timeout=10)
        link.execute(
            "INSERT OR IGNORE INTO account (bare_jid, resourcepart, password, alias, enabled, roster_version, "
            "mam_earliest_synced) VALUES (?, 'dino', ?, '', 1, '', 0)",
            (self.options.jid, os.environ.get("DINO_PASSWORD", "")))
        for jid in self.options.contact:
            self.conversation(link, jid, None, CHAT)
        for jid in self.options.plain:
            self.conversation(link, jid, None, CHAT, 0)
        for room in self.options.room:
            jid, _, nick = room.partition("/")
            self.conversation(link, jid, nick, GROUPCHAT)
        link.commit()
        self.reported = link.execute("SELECT coalesce(max(id), 0) FROM message").fetchone()[0]
        link.close()

    def conversation(self, link, jid, nick, kind, encryption=OMEMO):
        link.execute("INSERT OR IGNORE INTO jid (bare_jid) VALUES (?)", (jid,))
        known = link.execute(
            "SELECT c.id FROM conversation c JOIN jid j ON j.id=c.jid_id WHERE j.bare_jid=?", (jid,)).fetchone()
        if known:
            link.execute("UPDATE conversation SET encryption=?, active=1 WHERE id=?", (encryption, known[0]))
            return
        now = int(time.time())
        link.execute(
            "INSERT INTO conversation (account_id, jid_id, resource, active, active_last_changed, last_active, type, "
            "encryption, notification, send_typing, send_marker) SELECT a.id, j.id, ?, 1, ?, ?, ?, ?, 0, 0, 0 "
            "FROM account a, jid j WHERE a.bare_jid=? AND j.bare_jid=?",
            (nick, now, now, kind, encryption, self.options.jid, jid))

    def gone(self):
        if self.dino.poll() is not None:
            raise TimeoutError("Dino has ended with %s: see %s/out" % (self.dino.returncode, self.folder))
        return False

    def go_online(self):
        self.start()
        device, key = wait(60, "Dino's keys", lambda: rows(
            self.keys, "SELECT device_id, identity_key_public_base64 FROM identity"))[0]
        wait(60, "Dino's device in its own list", lambda: re.search(
            r":device \S*:id='%d'" % device, self.output()) or self.gone())
        for room in self.options.room:
            wait(60, "Dino in the room " + room, lambda room=room: re.search(
                r":presence [^>]*:from='%s'" % re.escape(room), self.output()))
        time.sleep(2)
        say("online", device=device, fingerprint=base64.b64decode(key)[1:].hex(), jid=self.options.jid)

    def window(self):
        found = sandbox.tool(self.screen, "search", "--onlyvisible", "--class", "dino").split()
        return found[-1] if found else None

    def send(self, jid, body):
        """Shows the conversation by the action that Dino's notifications use, then types."""
        found = rows(self.database, "SELECT c.id FROM conversation c JOIN jid j ON j.id=c.jid_id WHERE j.bare_jid=? "
                     "AND c.active ORDER BY c.type DESC", jid)
        if not found:
            say("failed", reason="no conversation with " + jid)
            return
        subprocess.run(
            ["gdbus", "call", "--session", "--dest", "im.dino.Dino", "--object-path", "/im/dino/Dino", "--method",
             "org.gtk.Actions.Activate", "open-conversation", "[<int32 %d>]" % found[0][0], "{}"], check=True,
            env=self.environment, timeout=30 * sandbox.PATIENCE, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        time.sleep(1)
        window = wait(20, "Dino's window", self.window)
        sandbox.tool(self.screen, "windowfocus", window)
        time.sleep(0.5)
        sandbox.tool(self.screen, "type", "--delay", "30", body, seconds=30)
        time.sleep(0.5)
        sandbox.tool(self.screen, "key", "Return")

    def news(self):
        """Reports what has come into the database."""
        found = rows(
            self.database,
            "SELECT m.id, j.bare_jid, m.counterpart_resource, m.direction, m.body, m.encryption, m.marked, "
            "m.stanza_id, m.type "
            "FROM message m JOIN jid j ON j.id=m.counterpart_id WHERE m.id>? ORDER BY m.id", self.reported)
        for number, jid, resource, direction, body, encryption, marked, identifier, kind in found:
            self.reported = number
            fields = {"resource": resource, "body": body, "id": identifier, "encrypted": encryption == OMEMO,
                      "type": kind, "marked": marked}
            if direction == 1:
                say("sent", to=jid, **fields)
            elif encryption != OMEMO and "OMEMO" in (body or ""):
                say("undecryptable", **{"from": jid}, **fields)
            else:
                say("message", **{"from": jid}, **fields)

    def run(self):
        self.prepare()
        self.go_online()
        commands = sandbox.Commands()
        while True:
            command = commands.next(0.3)
            self.news()
            self.gone()
            if command is None:
                continue
            if command["do"] == "quit":
                return
            if command["do"] == "send":
                self.send(command.get("to") or command["room"], command["body"])
            elif command["do"] == "shot":
                subprocess.run(["import", "-display", self.screen, "-window", "root", command["file"]], timeout=60)
                say("shot", file=command["file"])
            else:
                say("failed", reason="no such command: %s" % command["do"])


def main():
    dino = Dino(arguments())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        dino.run()
    except TimeoutError as why:
        say("failed", reason=str(why))
        return 70
    finally:
        sandbox.end(dino.processes)
    return 0


sys.exit(main())
