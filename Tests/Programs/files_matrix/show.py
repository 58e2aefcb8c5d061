#!/usr/bin/python3
"""Shows that pictures go between `kalij` and other clients over a real server: plain and encrypted, bytes compared.

show.py [prosody|ejabberd]... [--peers prof,dino] [--folder FOLDER]

KALIJ_BINARY names the command `kalij`. Two accounts of kalij, `plain` and `secret`, each have a picture for each peer and
get one from each; between `secret` and the peers everything is encrypted (OMEMO 0.3). profanity sends with /sendfile
and fetches with /url save. Dino fetches small pictures by itself. Dino's sending needs its file chooser, a window that
no command and no D-Bus action of Dino 0.4 opens with a path: these cells say so, and nothing else is claimed.

The cell from profanity to Dino (OMEMO) is there to compare: Dino 0.4.2 stops in the middle of encrypted files that
ejabberd serves, whoever has sent them ("stalls": the beginning is right, and Dino still fetches; measured). Such a cell
of kalij's is taken if profanity's stalls, too.

A cell: "ok" (the same SHA-256), "PLAIN" (the picture came, but the message was not encrypted), "other bytes", "-" (did
not come), "not driven". Exit status 0 if every driven cell is ok.
"""
import argparse
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
OMEMO = os.path.join(HERE, "../omemo")
sys.path.insert(0, OMEMO)

from lab import Ejabberd, Program, Prosody  # noqa: E402
from sandbox import PATIENCE, rows, wait  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's own, for its packages
PASSWORD = "secret"
OMEMO_USED = 2  # in Dino's database
NAMES = {"prof": "profanity", "dino": "Dino"}


def say(text):
    print("%s %s" % (time.strftime("%H:%M:%S"), text), flush=True)


def picture(path):
    """Writes a PNG of noise, 120 pixels square."""
    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    rows = b"".join(b"\0" + os.urandom(360) for _ in range(120))
    head = (120).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    return path


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Kalij:
    """An account of kalij, with a process that runs."""

    def __init__(self, user, server, folder, encrypts):
        self.user, self.server, self.data, self.encrypts = user, server, os.path.join(folder, user), encrypts
        self.process = None

    def call(self, *words, status=(0,)):
        answer = subprocess.run(
            [os.environ["KALIJ_BINARY"], "--data", self.data, "--json", *words], stdin=subprocess.DEVNULL,
            capture_output=True, timeout=60 * PATIENCE, env={**os.environ, "KALIJ_PASSWORD": PASSWORD})
        if answer.returncode not in status:
            raise ValueError("kalij %s: %d, %s" % (" ".join(words), answer.returncode, answer.stderr.decode()[:300]))
        return [json.loads(line) for line in answer.stdout.splitlines()]

    def start(self):
        self.call("login", self.user + "@localhost", "--server", "127.0.0.1:%d" % self.server.port,
                  "--ca", self.server.authority)
        with open(self.data + ".log", "ab") as log:
            self.process = subprocess.Popen(
                [os.environ["KALIJ_BINARY"], "--data", self.data, "--json", "run"], stdin=subprocess.PIPE,
                stdout=log, stderr=log)

        def published():
            try:
                return self.call("omemo", "status")
            except ValueError:
                return None
        wait(20, "kalij's keys", published)

    def send(self, peer, path):
        if self.encrypts:
            self.call("omemo", "on", peer + "@localhost", "--wait")
        self.call("send", peer + "@localhost", "--file", path, "--confirm")

    def received(self, peer):
        """The messages with a file from a peer."""
        return [one for one in self.call("history", peer + "@localhost", "--limit", "100", status=(0, 1))
                if one.get("direction") == "in" and (one.get("body") or "").startswith(("https://", "aesgcm://"))]

    def check(self, peer, path):
        """The verdict about the picture at path, which the peer has sent."""
        try:
            message = wait(15, "a file", lambda: self.received(peer))[0]
        except TimeoutError:
            return "-"
        copy = path + "-at-" + self.user
        self.call("download", str(message["id"]), "--to", copy)
        if digest(copy) != digest(path):
            return "other bytes"
        return "PLAIN" if self.encrypts and "encryption" not in message else "ok"

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(20)


class Named:
    """Somebody with whom everything is encrypted."""
    encrypts = True

    def __init__(self, user):
        self.user = user


class Profanity:
    def __init__(self, server, folder, users):
        self.folder = os.path.join(folder, "prof")
        self.program = Program(
            [PYTHON, OMEMO + "/profanity_omemo.py", self.folder, "prof@localhost", str(server.port), server.authority],
            {"PROFANITY_PASSWORD": PASSWORD}, self.folder + ".errors")
        self.program.wait(90, event="online")

    def type(self, line, seconds=1.0):
        self.program.do(do="type", line=line)
        time.sleep(seconds)

    def open(self, kalij):
        self.type("/msg %s@localhost" % kalij.user)
        if kalij.encrypts:
            self.type("/omemo start", 3)

    def send(self, kalij, path):
        self.open(kalij)
        self.type("/sendfile " + path, 3)

    def check(self, kalij, path):
        """Fetches the last picture from kalij with /url save."""
        def come():
            return [one for one in self.program.seen if one["event"] == "message"
                    and one["from"] == kalij.user + "@localhost" and "://" in (one["body"] or "")]
        try:
            message = wait(15, "a URL", come)[-1]
        except TimeoutError:
            return "-"
        copy = path + "-at-prof"
        self.type("/msg %s@localhost" % kalij.user)
        self.type("/url save %s %s" % (message["body"], copy))
        try:
            wait(15, "the file", lambda: os.path.exists(copy) and digest(copy) == digest(path))
        except TimeoutError:
            return "other bytes" if os.path.exists(copy) else "not saved"
        return "PLAIN" if kalij.encrypts and not message["encrypted"] else "ok"

    def stop(self):
        self.program.quit()


class Dino:
    def __init__(self, server, folder, users):
        self.folder = os.path.join(folder, "dino")
        contacts = [word for user in users for word in ("--contact" if user.encrypts else "--plain",
                                                        user.user + "@localhost")]
        contacts += ["--contact", "prof@localhost"]
        self.program = Program(
            [PYTHON, OMEMO + "/dino.py", self.folder, "dino@localhost", str(server.port), server.authority, *contacts,
             "--https", str(server.https)], {"DINO_PASSWORD": PASSWORD}, self.folder + ".errors")
        self.program.wait(90, event="online")

    send = None

    def stalls(self, path):
        """Whether Dino has the beginning of the picture, and still fetches."""
        with open(path, "rb") as file:
            whole = file.read()
        parts = [open(one, "rb").read() for one in glob.glob(self.folder + "/data/dino/files/*")]
        begun = any(0 < len(part) < len(whole) and whole.startswith(part) for part in parts)
        return begun and rows(self.folder + "/data/dino/dino.db", "SELECT 1 FROM file_transfer WHERE state=2")

    def check(self, kalij, path):
        """Dino fetches by itself what is an image and small."""
        def there():
            return [one for one in glob.glob(self.folder + "/data/dino/files/*") if digest(one) == digest(path)]
        try:
            copy = os.path.basename(wait(15, "the file", there)[0])
        except TimeoutError:
            return "stalls" if self.stalls(path) else "-"
        known = rows(self.folder + "/data/dino/dino.db", "SELECT encryption FROM file_transfer WHERE path=?", copy)
        return "PLAIN" if kalij.encrypts and known != [(OMEMO_USED,)] else "ok"

    def stop(self):
        self.program.quit()


def table(title, cells):
    print("%s: a picture from the row's client to the column's" % title)
    columns = list(dict.fromkeys(pair[1] for pair in cells))
    print("".join(name.ljust(14) for name in ["", *columns]).rstrip())
    for row in dict.fromkeys(pair[0] for pair in cells):
        print((row.ljust(14) + "".join(cells.get((row, column), ".").ljust(14) for column in columns)).rstrip())
    print(flush=True)


def verdict(body):
    try:
        return body()
    except (TimeoutError, ValueError, OSError, subprocess.TimeoutExpired) as why:
        say("failed: %s" % why)
        return "failed"


def matrix(server, folder, names):
    users = [Kalij("plain", server, folder, False), Kalij("secret", server, folder, True)]
    subprocess.run([PYTHON, OMEMO + "/contacts.py", str(server.port), server.authority, "plain", "secret", *names],
                   check=True, env={**os.environ, "PEER_PASSWORD": PASSWORD}, timeout=150 * PATIENCE,
                   stderr=subprocess.DEVNULL)
    peers, cells = {}, {}
    try:
        for user in users:
            user.start()
        for name in names:
            peers[name] = {"prof": Profanity, "dino": Dino}[name](server, folder, users)
            say("%s is online" % NAMES[name])
        for user in users:
            kalij = "kalij, OMEMO" if user.encrypts else "kalij"
            for name, peer in peers.items():
                path = picture(os.path.join(folder, "%s-to-%s.png" % (user.user, name)))

                def to_peer(user=user, name=name, peer=peer, path=path):
                    user.send(name, path)
                    return peer.check(user, path)
                cells[kalij, NAMES[name]] = verdict(to_peer)
                path = picture(os.path.join(folder, "%s-to-%s.png" % (name, user.user)))

                def to_kalij(user=user, name=name, peer=peer, path=path):
                    peer.send(user, path)
                    return user.check(name, path)
                cells[NAMES[name], kalij] = verdict(to_kalij) if peer.send else "not driven"
        if len(peers) == 2:  # without kalij, to compare
            path = picture(os.path.join(folder, "prof-to-dino.png"))
            peers["prof"].send(Named("dino"), path)
            cells["profanity", "Dino"] = peers["dino"].check(Named("prof"), path)
        table(server.name, cells)
    finally:
        for one in [*users, *peers.values()]:
            one.stop()
    allowed = {"ok", "not driven", "stalls" if cells.get(("profanity", "Dino")) == "stalls" else "ok"}
    return all(one in allowed for one in cells.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("servers", nargs="*", default=["prosody", "ejabberd"])
    parser.add_argument("--peers", default="prof,dino")
    parser.add_argument("--folder")
    options = parser.parse_args()
    folder = options.folder or tempfile.mkdtemp(prefix="file-matrix-")
    names = options.peers.split(",")
    good = True
    for kind in options.servers:
        place = os.path.join(os.path.abspath(folder), kind)
        server = {"prosody": Prosody, "ejabberd": Ejabberd}[kind](place + "/server")
        try:
            say("%s runs on port %d, files are in %s" % (server.name, server.port, place))
            for name in ["plain", "secret", *names]:
                server.register(name, PASSWORD)
            good = matrix(server, place, names) and good
        finally:
            server.stop()
    if good and not options.folder:
        shutil.rmtree(folder)
    return 0 if good else 1


sys.exit(main())
