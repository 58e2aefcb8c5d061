#!/usr/bin/python3
"""Runs profanity 0.13.1 with OMEMO 0.3 in a terminal of its own. Speaks JSON lines, as omemo_peer.py does.

profanity_omemo.py FOLDER JID PORT CA [--trust blind|firstusage|manual] [--policy automatic|manual|always]

FOLDER holds all files of the client and stays for a restart. The password comes from PROFANITY_PASSWORD. Loopback only.
Keys are made at the first start (/omemo gen), because profanity publishes nothing before that.

Commands, one JSON object a line on standard input:
  {"do":"send","to":JID,"body":TEXT}      in the window of the contact; /omemo start comes first, once a start
  {"do":"send","room":JID,"body":TEXT}
  {"do":"join","room":JID,"nick":N}       and /omemo start there
  {"do":"subscribe","to":JID}
  {"do":"type","line":TEXT}               any command of profanity
  {"do":"quit"}                           so does the end of input
Reports: online (with the device), message and sent (both from profanity's database), key-error, failed.

What it shows is read from its files: FOLDER/data/profanity/database/ACCOUNT/chatlog.db (table ChatLogs: message,
encryption "omemo", from_jid, to_jid, stanza_id) and FOLDER/log (all stanzas, level DEBUG).
"""
import argparse
import fcntl
import glob
import json
import os
import pty
import re
import select
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import time

from sandbox import PATIENCE, say

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("jid")
parser.add_argument("port")
parser.add_argument("ca")
parser.add_argument("--trust", default="blind")
parser.add_argument("--policy", default="automatic")
options = parser.parse_args()
folder = os.path.abspath(options.folder)


def write(name, text):
    with open(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)


def prepare():
    """Writes the settings at the first start."""
    if os.path.exists(folder + "/config/profanity/profrc"):
        return
    for name in ("config/profanity", "data/profanity", "authorities"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    shutil.copy(options.ca, os.path.join(folder, "authorities", "authority.pem"))
    subprocess.run(["openssl", "rehash", folder + "/authorities"], check=True, timeout=30)
    write("config/profanity/profrc", """[ui]
splash=false
[connection]
carbons=true
tls.certpath=%s/authorities
[logging]
chlog=true
dblog=on
[omemo]
policy=%s
trustmode=%s
log=on
[chatstates]
enabled=false
""" % (folder, options.policy, options.trust))
    write("data/profanity/accounts", """[%(jid)s]
enabled=true
jid=%(jid)s
server=127.0.0.1
port=%(port)s
resource=profanity
password=%(password)s
tls.policy=force
presence.last=online
presence.login=online
priority.online=0
""" % {"jid": options.jid, "port": options.port, "password": os.environ.get("PROFANITY_PASSWORD", "")})


class Client:
    def __init__(self):
        self.log_place = os.path.getsize(folder + "/log") if os.path.exists(folder + "/log") else 0
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.environ.pop("PROFANITY_PASSWORD", None)
            os.environ.update({
                "HOME": folder, "XDG_CONFIG_HOME": folder + "/config", "XDG_DATA_HOME": folder + "/data",
                "TERM": "xterm", "LANG": "C.UTF-8"})
            os.execvp("profanity", ["profanity", "-l", "DEBUG", "-f", folder + "/log", "-a", options.jid])
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.screen = open(folder + "/screen", "ab", buffering=0)
        self.ended = False
        self.row = 0
        self.begun = b""
        self.commands = []
        self.closing = False
        self.started = set()
        self.row = self.newest()

    def pump(self, seconds):
        """Reads what the client draws and what we are told, for that long at most."""
        sources = [self.terminal] + ([] if self.closing else [0])
        ready, _, _ = select.select(sources, [], [], seconds)
        if self.terminal in ready:
            try:
                self.screen.write(os.read(self.terminal, 65536))
            except OSError:  # the client has ended
                self.ended = True
        if 0 in ready:
            given = os.read(0, 65536)
            if not given:
                self.closing = True
            *lines, self.begun = (self.begun + given).split(b"\n")
            self.commands += [json.loads(line) for line in lines if line.strip()]

    def wait(self, seconds, what, ready):
        end = time.monotonic() + seconds * PATIENCE
        while not ready():
            if self.ended or time.monotonic() > end:
                raise TimeoutError("waited %d s for %s" % (seconds * PATIENCE, what))
            self.pump(0.1)

    def type(self, line):
        os.write(self.terminal, line.encode() + b"\r")
        end = time.monotonic() + 0.3
        while time.monotonic() < end and not self.ended:
            self.pump(0.1)

    def log(self):
        """What was logged since this start."""
        if not os.path.exists(folder + "/log"):
            return ""
        with open(folder + "/log", encoding="utf-8", errors="replace") as file:
            file.seek(self.log_place)
            return file.read()

    def database(self):
        found = glob.glob(folder + "/data/profanity/database/*/chatlog.db")
        return sqlite3.connect("file:%s?mode=ro" % found[0], uri=True, timeout=5) if found else None

    def newest(self):
        link = self.database()
        if link is None:
            return 0
        try:
            return link.execute("SELECT coalesce(max(id), 0) FROM ChatLogs").fetchone()[0]
        except sqlite3.OperationalError:  # the table is not there yet
            return 0
        finally:
            link.close()

    def news(self):
        """Reports what has come into the database."""
        link = self.database()
        if link is None:
            return
        try:
            rows = link.execute(
                "SELECT id, from_jid, to_jid, message, stanza_id, encryption, type, from_resource FROM ChatLogs "
                "WHERE id>? ORDER BY id", (self.row,)).fetchall()
        except sqlite3.OperationalError:
            rows = []
        finally:
            link.close()
        for number, sender, recipient, body, identifier, encryption, kind, resource in rows:
            self.row = number
            fields = {"from": sender, "resource": resource, "to": recipient, "body": body, "id": identifier,
                      "encrypted": encryption == "omemo", "type": kind}
            say("sent" if sender == options.jid else "message", **fields)

    def device(self):
        for name in glob.glob(folder + "/data/profanity/omemo/*/identity.txt"):
            with open(name, encoding="utf-8") as file:
                found = re.search(r"^device_id=(\d+)", file.read(), re.M)
                if found:
                    return int(found.group(1))
        return None

    def go_online(self):
        self.wait(30, "profanity's login", lambda: "logged in successfully" in self.log())
        if self.device() is None:
            self.type("/omemo gen")
            self.wait(60, "profanity's keys", lambda: self.device() is not None)
        old = r"eu\.siacs\.conversations\.axolotl"
        listed = r'SENT: .*<publish node="%s\.devicelist">.*<device id="%d"' % (old, self.device())
        received = r'RECV: .*<list xmlns="%s">.*<device id="%d"' % (old, self.device())
        self.wait(30, "the answer about profanity's own device list", lambda: re.search(listed, self.log())
                  or re.search(received, self.log()) or "can't get OMEMO device list" in self.log())
        if not re.search(listed, self.log()) and not re.search(received, self.log()):
            # 0.13.1 gives up if there is no list at all. This publishes an empty one, whose event it mends.
            self.type("/omemo clear_device_list")
            self.wait(30, "profanity's device in its own list", lambda: re.search(listed, self.log()))
        say("online", device=self.device(), jid=options.jid)

    def begin_sessions(self, target):
        """/omemo start in the open window, once a start. Lists and bundles are fetched after it, without a sign."""
        if target not in self.started:
            self.started.add(target)
            self.type("/omemo start")
            end = time.monotonic() + 2
            while time.monotonic() < end and not self.ended:
                self.pump(0.1)

    def obey(self, command):
        do = command.get("do")
        if do == "send":
            target = command.get("to") or command["room"]
            if "room" not in command:
                self.type("/msg " + target)
                self.begin_sessions(target)
            else:
                self.type("/win " + target)
                if target not in self.started:
                    # Those who came after /omemo start may have been left out: it asks for the lists that it lacks.
                    self.type("/omemo end")
                self.begin_sessions(target)
            self.type(command["body"])
        elif do == "join":
            self.type("/join %s nick %s" % (command["room"], command["nick"]))
            self.wait(20, "the room", lambda: "%s/%s" % (command["room"], command["nick"]) in self.log())
            end = time.monotonic() + 2
            while time.monotonic() < end:
                self.pump(0.1)
            self.type("/omemo start")
            say("joined", room=command["room"], nick=command["nick"])
        elif do == "subscribe":
            self.type("/sub request " + command["to"])
            self.type("/sub allow " + command["to"])
        elif do == "type":
            self.type(command["line"])
        elif do == "quit":
            self.closing = True
        else:
            say("failed", reason="no such command: %s" % do)

    def run(self):
        self.go_online()
        while not self.ended and not (self.closing and not self.commands):
            self.pump(0.2)
            if self.commands:
                self.obey(self.commands.pop(0))
            self.news()
        if not self.ended:
            self.type("/quit")
        end = time.monotonic() + 5
        while not self.ended and time.monotonic() < end:
            self.pump(0.2)

    def close(self):
        if not self.ended:
            os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


prepare()
client = Client()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
try:
    client.run()
except TimeoutError as why:
    say("failed", reason=str(why))
finally:
    client.close()
