#!/usr/bin/python3
"""Runs Gajim 1.7.3 with gajim-omemo 2.9.0 (OMEMO 0.3) under Xvfb. Speaks JSON lines, as omemo_peer.py does.

gajim.py FOLDER JID PORT CA [--contact JID]... [--room JID/NICK]...

JID has the domain localhost. FOLDER holds all files of the client and stays for a restart. The password comes from
GAJIM_PASSWORD. Needs gajim, gajim-omemo, xvfb, dbus-daemon, libglib2.0-bin, python3-slixmpp, dnsmasq-base, iproute2.

The account, the plugin and "encryption: OMEMO" for each contact and room are written into Gajim's settings before Gajim
starts (it makes the empty ones in a first start of its own). Rooms are entered by a bookmark, which we publish. It is
driven by its own remote interface on D-Bus (what gajim-remote uses); no key is typed. Blind trust is its default.

Commands, one JSON object a line on standard input:
  {"do":"send","to":JID,"body":TEXT}     encrypted, because the settings say so
  {"do":"send","room":JID,"body":TEXT}
  {"do":"shot","file":PATH}              a picture of the window (needs imagemagick)
  {"do":"quit"}                          so does the end of input
Reports: online (with the device), message, sent, failed.

Results are read from FOLDER/data/gajim/logs.db, table logs: kind 2 and 4 came, 3 and 6 were sent, additional_data names
the encryption. FOLDER/out has Gajim's log. Keys: FOLDER/data/gajim/omemo_*.db.
"""
import argparse
import glob
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import sandbox
from sandbox import rows, say, wait

ACCOUNT = "test"
# Gajim refuses to run as root. In a user namespace root is seen as an ordinary user; D-Bus needs
# the same one everywhere.
USER = ["unshare", "--map-user=1000", "--map-group=1000"] if os.geteuid() == 0 else []
CAME, WENT = (2, 4), (3, 6)  # room messages are always of kind 2


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("jid")
    parser.add_argument("port", type=int)
    parser.add_argument("ca")
    parser.add_argument("--contact", action="append", default=[])
    parser.add_argument("--room", action="append", default=[])
    return parser.parse_args()


class Gajim:
    def __init__(self, options):
        self.options = options
        self.folder = os.path.abspath(options.folder)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self.password = os.environ.pop("GAJIM_PASSWORD", "")
        if options.room:
            sandbox.bookmark(options, self.password)
        self.settings = self.folder + "/config/gajim/settings.sqlite"
        self.logs = self.folder + "/data/gajim/logs.db"
        self.processes = sandbox.enter(options.port, os.path.abspath(options.ca), self.folder)
        server, self.screen = sandbox.display(self.folder)
        self.processes.append(server)
        os.makedirs(self.folder + "/run", mode=0o700, exist_ok=True)
        self.environment = {
            **os.environ, "DISPLAY": self.screen, "HOME": self.folder, "XDG_DATA_HOME": self.folder + "/data",
            "XDG_CONFIG_HOME": self.folder + "/config", "XDG_CACHE_HOME": self.folder + "/cache",
            "XDG_RUNTIME_DIR": self.folder + "/run", "GDK_BACKEND": "x11", "NO_AT_BRIDGE": "1", "LANG": "C.UTF-8",
            "GSETTINGS_BACKEND": "memory", "LIBGL_ALWAYS_SOFTWARE": "1",
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        self.environment.pop("DBUS_SESSION_BUS_ADDRESS", None)
        self.reported = 0

    def start(self):
        address = self.folder + "/bus"
        if os.path.exists(address):
            os.unlink(address)
        with open(self.folder + "/out", "ab") as log:
            process = subprocess.Popen(
                USER + ["dbus-run-session", "--", "sh", "-c",
                 'echo "$DBUS_SESSION_BUS_ADDRESS" >"$0"; exec /usr/bin/gajim --verbose', address],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=sandbox.with_us)
        self.processes.append(process)
        self.gajim = process
        wait(20, "the session bus", lambda: os.path.exists(address) and os.path.getsize(address))
        with open(address, encoding="ascii") as file:
            self.environment["DBUS_SESSION_BUS_ADDRESS"] = file.read().strip()

    def prepare(self):
        """Makes the settings, and puts the account, the plugin and the encryption into them."""
        if not rows(self.settings, "SELECT 1 FROM settings WHERE name='workspaces'"):
            self.start()
            wait(40, "Gajim's first settings", lambda: rows(
                self.settings, "SELECT 1 FROM settings WHERE name='workspaces'"))
            wait(40, "Gajim's database of messages", lambda: rows(
                self.logs, "SELECT 1 FROM sqlite_master WHERE name='logs'"))
            time.sleep(2)
            sandbox.end([self.processes.pop()])
        link = sqlite3.connect(self.settings, timeout=10)

        def change(name, values):
            found = link.execute("SELECT settings FROM settings WHERE name=?", (name,)).fetchone()
            link.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)",
                         (name, json.dumps({**json.loads(found[0] if found else "{}"), **values})))

        change("app", {"remote_control": True, "use_keyring": False, "check_for_update": False, "show_trayicon": False})
        change("plugins", {"omemo": {"active": True}})
        user, _, host = self.options.jid.partition("@")
        found = link.execute("SELECT settings FROM account_settings WHERE account=?", (ACCOUNT,)).fetchone()
        account = json.loads(found[0]) if found else {"account": {}, "contact": {}, "group_chat": {}}
        account["account"].update({
            "name": user, "hostname": host, "password": self.password, "savepass": True, "active": True,
            "autoconnect": True, "resource": "gajim", "use_custom_host": True, "custom_host": "localhost",
            "custom_port": 5222, "custom_type": "START TLS", "account_label": ACCOUNT})
        for jid in self.options.contact:
            account["contact"].setdefault(jid, {})["encryption"] = "OMEMO"
        for room in self.options.room:
            account["group_chat"].setdefault(room.partition("/")[0], {})["encryption"] = "OMEMO"
        link.execute("INSERT OR REPLACE INTO account_settings VALUES (?, ?)", (ACCOUNT, json.dumps(account)))
        link.commit()
        link.close()
        newest = rows(self.logs, "SELECT coalesce(max(log_line_id), 0) FROM logs")
        self.reported = newest[0][0] if newest else 0

    def call(self, method, *values):
        answer = subprocess.run(
            USER + ["gdbus", "call", "--session", "--dest", "org.gajim.Gajim", "--object-path",
                    "/org/gajim/dbus/RemoteObject",
             "--method", "org.gajim.dbus.RemoteInterface." + method, *values], env=self.environment,
            timeout=30 * sandbox.PATIENCE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return answer.stdout.decode().strip()

    def device(self):
        for name in glob.glob(self.folder + "/data/gajim/omemo_*.db"):
            found = rows(name, "SELECT registration_id FROM secret UNION SELECT registration_id FROM identities "
                         "WHERE recipient_id='-1'") or rows(name, "SELECT device_id FROM secret")
            if found:
                return found[0][0]
        return None

    def go_online(self):
        self.start()
        wait(60, "Gajim's login", lambda: "'online'" in self.call("get_status", ACCOUNT), pause=1)
        device = wait(60, "Gajim's keys", self.device)
        time.sleep(4)  # its list and bundle are published meanwhile, rooms entered
        say("online", device=device, jid=self.options.jid)

    def news(self):
        """Reports what has come into the database."""
        found = rows(
            self.logs, "SELECT l.log_line_id, j.jid, l.contact_name, l.kind, l.message, l.additional_data, "
            "l.message_id, l.real_jid "
            "FROM logs l JOIN jids j ON j.jid_id=l.jid_id WHERE l.log_line_id>? ORDER BY 1", self.reported)
        for number, jid, name, kind, body, more, identifier, real in found:
            self.reported = number
            if kind not in CAME + WENT:
                continue
            fields = {"resource": name, "body": body, "id": identifier, "encrypted": "OMEMO" in str(more),
                      "sender": real, "more": more}
            mine = kind in WENT or name in [room.partition("/")[2] for room in self.options.room]
            say("sent", to=jid, **fields) if mine else say("message", **{"from": jid}, **fields)

    def run(self):
        self.prepare()
        self.go_online()
        commands = sandbox.Commands()
        while True:
            command = commands.next(0.3)
            self.news()
            if self.gajim.poll() is not None:
                raise TimeoutError("Gajim has ended with %s: see %s/out" % (self.gajim.returncode, self.folder))
            if command is None:
                continue
            if command["do"] == "quit":
                return
            if command["do"] == "send":
                method = "send_groupchat_message" if "room" in command else "send_chat_message"
                answer = self.call(method, command.get("to") or command["room"], command["body"], ACCOUNT)
                if "true" not in answer:
                    say("failed", reason="Gajim's answer: " + answer)
            elif command["do"] == "shot":
                subprocess.run(["import", "-display", self.screen, "-window", "root", command["file"]],
                               timeout=60, stdin=subprocess.DEVNULL)
                say("shot", file=command["file"])
            else:
                say("failed", reason="no such command: %s" % command["do"])


def main():
    gajim = Gajim(arguments())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        gajim.run()
    except TimeoutError as why:
        say("failed", reason=str(why))
        return 70
    finally:
        sandbox.end(gajim.processes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
