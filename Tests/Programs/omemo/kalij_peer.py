#!/usr/bin/python3
"""Runs `kalij` with OMEMO 0.3, and with --version2 with 2 besides. Speaks JSON lines, as omemo_peer.py does.

kalij_peer.py FOLDER JID PORT CA [--version2]

KALIJ_BINARY names the command. FOLDER holds its directory and stays for a restart; the password comes from
KALIJ_PASSWORD. If this process is killed by SIGKILL, so is `kalij run`. Each event is reported once: its number is
kept, and the next `kalij run` begins after it.

Commands, one JSON object a line on standard input:
  {"do":"send","to":JID,"body":TEXT,"id":ID}     `kalij omemo on` comes first, once a start
  {"do":"send","room":JID,"body":TEXT,"id":ID}
  {"do":"create","name":NAME,"invite":[JID]}     a group; the report `joined` has its address
  {"do":"join","room":JID,"nick":N}
  {"do":"quit"}                                  so does the end of input
Reports: online (with device and fingerprint), message, sent (the server has it), undecryptable (with the reason),
joined, failed.

FOLDER/log has what `kalij -v run` says.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import threading

import sandbox
from sandbox import say, wait


class Kalij:
    def __init__(self, options):
        self.options = options
        self.folder = os.path.abspath(options.folder)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self.number = self.folder + "/number"
        self.caught_up = threading.Event()
        self.encrypted = set()

    def command(self, *words):
        return [os.environ["KALIJ_BINARY"], "--data", self.folder + "/data", *words]

    def call(self, *words, expected=(0,)):
        """Runs a command to its end; gives its lines of JSON."""
        answer = subprocess.run(self.command("--json", *words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, timeout=60 * sandbox.PATIENCE)
        if answer.returncode not in expected:
            raise ValueError("kalij %s: %d, %s" % (" ".join(words), answer.returncode, answer.stderr.decode()[:300]))
        return [json.loads(line) for line in answer.stdout.splitlines()]

    def start(self):
        if not os.path.exists(self.number):
            self.call("login", self.options.jid, "--server", "127.0.0.1:%d" % self.options.port,
                      "--ca", os.path.abspath(self.options.ca))
            if self.options.version2:
                self.call("omemo", "version2", "on", "--queue-only")
            self.keep(0)
        with open(self.number, encoding="ascii") as file:
            last = file.read()
        with open(self.folder + "/log", "ab") as log:
            self.process = subprocess.Popen(
                self.command("-v", "--json", "run", "--since", last), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=log, preexec_fn=sandbox.with_us)
        threading.Thread(target=self.read, daemon=True).start()
        wait(60, "kalij's archive", self.caught_up.is_set)
        wait(60, "kalij's keys on the server", self.status)
        own = self.status()
        say("online", device=own["device"], fingerprint=own["fingerprint"], jid=self.options.jid)

    def status(self):
        """The event of `kalij omemo status`, once the keys are published."""
        try:
            own = self.call("omemo", "status")[0]
        except ValueError:
            return None
        return own if own.get("version2") == ("ready" if self.options.version2 else None) else None

    def keep(self, number):
        with open(self.number + ".new", "w", encoding="ascii") as file:
            file.write(str(number))
        os.replace(self.number + ".new", self.number)

    def read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            if event["event"] == "caught_up":
                self.caught_up.set()
            elif event["event"] == "message" and event["direction"] == "in":
                self.report(event)
            elif event["event"] == "state" and event.get("state") == "acked":
                say("sent", id=event.get("origin_id"), body=event.get("body"))
            if "number" in event:
                self.keep(event["number"])

    def report(self, event):
        encryption = event.get("encryption") or {}
        fields = {"from": event["from"], "id": event.get("origin_id"), "device": encryption.get("device")}
        if "undecryptable" in encryption:
            say("undecryptable", reason=encryption["undecryptable"], **fields)
        elif event.get("body"):
            say("message", body=event["body"], encrypted="ns" in encryption, trust=encryption.get("trust"),
                namespace=encryption.get("ns"), **fields)

    def obey(self, command):
        if command["do"] == "send":
            target = command.get("to") or command["room"]
            if target not in self.encrypted:
                self.call("omemo", "on", target, "--wait")
                self.encrypted.add(target)
            self.call("send", target, command["body"], "--id", command["id"], "--queue-only")
        elif command["do"] == "create":
            room = self.call("room", "create", command["name"], "--invite", ",".join(command["invite"]))
            say("joined", room=next(one["room"] for one in room if one["event"] == "room"))
        elif command["do"] == "join":
            self.call("room", "join", command["room"], "--nick", command["nick"], "--wait")
            say("joined", room=command["room"], nick=command["nick"])
        else:
            raise ValueError("no such command: %s" % command["do"])

    def run(self):
        self.start()
        commands = sandbox.Commands()
        while True:
            command = commands.next(0.5)
            if self.process.poll() is not None:
                raise TimeoutError("kalij has ended with %s: see %s/log" % (self.process.returncode, self.folder))
            if command is None:
                continue
            if command["do"] == "quit":
                return
            try:
                self.obey(command)
            except (ValueError, KeyError, subprocess.TimeoutExpired) as why:
                say("failed", id=command.get("id"), reason=str(why))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("jid")
    parser.add_argument("port", type=int)
    parser.add_argument("ca")
    parser.add_argument("--version2", action="store_true")
    kalij = Kalij(parser.parse_args())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        kalij.run()
    except TimeoutError as why:
        say("failed", reason=str(why))
        return 70
    finally:
        if getattr(kalij, "process", None):
            sandbox.end([kalij.process])
    return 0


if __name__ == "__main__":
    sys.exit(main())
