#!/usr/bin/python3
"""Shows that `kalij` and other OMEMO clients read each other over a real server: 1:1, after restarts, and in rooms.

show.py [prosody|ejabberd]... [--peers first,alice,prof,dino,gajim,last] [--folder FOLDER] [--kills N] [--version2]

KALIJ_BINARY names the command `kalij`. Starts the server on loopback ports in a new folder, registers the accounts,
makes them contacts of each other, starts the peers, and sends one message for each pair; a row is sent before the next
one. So `first` (kalij) writes first to everybody, and everybody writes first to `last` (kalij, too). Then everybody
writes first to `away` (kalij), which was killed when it had published its keys; it comes back, reads, and answers.
Then all peers are restarted (kalij and omemo_peer by SIGKILL), and each pair writes again. Then all meet in a group
that kalij has made, and in a members-only, non-anonymous room that an omemo_peer has made. Prints a matrix each.
With --version2 kalij and omemo_peer use OMEMO 2, too, and `first` and `alice` have a second device (omemo_peer), `first+`
and `alice+`: so what they send to clients of 0.3 are stanzas with two parts, one for each version. The columns of the
second devices say whether the copies were read there; the stanzas with two parts that they have seen are counted.
--kills N instead kills two omemo_peers at random N times while numbered messages go both ways, and counts: what fails
there is the library's.

A cell: "ok", "ok kex" (it began a session; seen by omemo_peer only), "PLAIN", "unread" (came, could not be read), "-"
(did not come). Set PATIENCE (default 3) higher on a slow machine. Exit status 0 if everything came encrypted.
"""
import argparse
import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

from lab import HERE, Ejabberd, Program, Prosody
from sandbox import PATIENCE, wait

PYTHON = "/usr/bin/python3"  # Debian's own, for its packages
PASSWORD = "secret"
ROOM = "garden@conference.localhost"
KINDS = {"first": "kalij", "alice": "omemo_peer", "bob": "omemo_peer", "prof": "profanity", "dino": "Dino",
         "gajim": "Gajim", "last": "kalij"}
KILLED = ("kalij", "omemo_peer")
VERSIONS = ("eu.siacs.conversations.axolotl", "urn:xmpp:omemo:2")


def say(text):
    print("%s %s" % (time.strftime("%H:%M:%S"), text), flush=True)


class Peer:
    """One of the scripts, whichever it is."""

    def __init__(self, name, kind, server, folder, everybody):
        self.name, self.kind, self.server, self.folder = name, kind, server, os.path.join(folder, name)
        self.jid = name.rstrip("+") + "@localhost"
        self.everybody = everybody
        self.version2 = False
        self.program = None
        self.rooms = []
        self.history = []

    def start(self):
        port, authority = str(self.server.port), self.server.authority
        extra = []
        if self.kind in ("Dino", "Gajim"):
            for other in self.everybody:
                if other != self.name:
                    extra += ["--contact", other + "@localhost"]
            for room in self.rooms:
                extra += ["--room", "%s/%s" % (room, self.name)]
        script, variable, arguments = {
            "kalij": ("kalij_peer.py", "KALIJ_PASSWORD", [port, authority] + ["--version2"] * self.version2),
            "omemo_peer": ("omemo_peer.py", "PEER_PASSWORD", [port, "--ca", authority, "--stanzas", "--ns",
                                                              "both" if self.version2 else "0.3"]),
            "profanity": ("profanity_omemo.py", "PROFANITY_PASSWORD", [port, authority]),
            "Dino": ("dino.py", "DINO_PASSWORD", [port, authority] + extra),
            "Gajim": ("gajim.py", "GAJIM_PASSWORD", [port, authority] + extra),
        }[self.kind]
        self.program = Program([PYTHON, os.path.join(HERE, script), self.folder, self.jid] + arguments,
                               {variable: PASSWORD}, self.folder + ".errors")

    def ready(self):
        self.program.wait(90, event="online")

    def stop(self, kill=False):
        if self.program is not None:
            self.program.kill() if kill else self.program.quit()
            self.history += self.program.seen
            self.program = None

    def send(self, body, to=None, room=None):
        target = {"room": room} if room else {"to": to}
        self.program.do(do="send", body=body, id=body.replace(" ", "-"), **target)

    def verdict(self, body):
        """What it has reported of that body by now, or None."""
        one = self.program.find(event="message", body=body)
        if one is None:
            return None
        return "PLAIN" if not one.get("encrypted") else "ok kex" if one.get("kex") else "ok"

    def two_parts(self):
        """How many messages with a part for each version it has seen, by the sender."""
        counts = collections.Counter()
        with open(self.folder + "/stanzas", encoding="utf-8") as file:
            for line in file:
                _, direction, text = line.split(" ", 2)
                for message in ElementTree.fromstring(text).iter("{jabber:client}message"):
                    names = {child.tag for child in message}
                    if direction == "in" and {"{%s}encrypted" % one for one in VERSIONS} <= names:
                        counts[message.get("from", "").split("@")[0]] += 1
        return dict(counts)

    def unreadable(self):
        return sum(one.get("event") == "undecryptable" for one in self.program.seen)


def await_verdict(receiver, body, before, seconds):
    try:
        return wait(seconds, body, lambda: receiver.verdict(body))
    except TimeoutError:
        return "unread" if receiver.unreadable() > before else "-"


def table(title, cells):
    rows, columns = (list(dict.fromkeys(pair[place] for pair in cells)) for place in (0, 1))
    columns.sort(key=lambda name: rows.index(name) if name in rows else len(rows))
    print("%s (rows send, columns receive)" % title)
    print("".join(name.ljust(10) for name in ["", *columns]).rstrip())
    for row in rows:
        print((row.ljust(10) + "".join(cells.get((row, column), ".").ljust(10) for column in columns)).rstrip())
    print(flush=True)


def everyone_to_everyone(peers, word, seconds=()):
    """`seconds` are further devices of some of them, which have to read what these send."""
    cells = {}
    for sender in peers:
        own = [one for one in seconds if one.jid == sender.jid]
        copies = {one: [] for one in own}
        for receiver in peers:
            if sender is not receiver:
                body = "%s from %s to %s" % (word, sender.name, receiver.name)
                before = receiver.unreadable()
                sender.send(body, to=receiver.jid)
                cells[sender.name, receiver.name] = await_verdict(receiver, body, before, 10)
                for one in own:
                    copies[one].append(await_verdict(one, body, 0, 10))
        for one in own:
            cells[sender.name, one.name] = next((copy for copy in copies[one] if not copy.startswith("ok")), "ok")
    return cells


def everyone_to_one_away(peers, away):
    """Everybody writes while one is not there; then it comes back, and answers."""
    away.stop(kill=True)
    bodies = {sender.name: "missed from " + sender.name for sender in peers}
    for sender in peers:
        sender.send(bodies[sender.name], to=away.jid)
    for sender in peers:
        sender.program.wait(20, event="sent", body=bodies[sender.name])
    time.sleep(3)
    away.start()
    away.ready()
    cells = {(sender.name, away.name): await_verdict(away, bodies[sender.name], 0, 10) for sender in peers}
    for receiver in peers:
        body, before = "answer to " + receiver.name, receiver.unreadable()
        away.send(body, to=receiver.jid)
        cells[away.name, receiver.name] = await_verdict(receiver, body, before, 10)
    return cells


def everyone_to_room(peers, room, word):
    cells = {}
    for sender in peers:
        body = "%s from %s" % (word, sender.name)
        before = {one.name: one.unreadable() for one in peers}
        sender.send(body, room=room)
        for receiver in peers:
            if receiver is not sender:
                cells[sender.name, receiver.name] = await_verdict(receiver, body, before[receiver.name], 10)
    return cells


def make_room(maker, peers):
    """Makes a members-only, non-anonymous room with these members; gives its address."""
    if maker.kind == "kalij":
        maker.program.do(do="create", name="Orchard", invite=[peer.jid for peer in peers if peer is not maker])
        return maker.program.wait(60, event="joined")["room"]
    maker.program.do(do="join", room=ROOM, nick=maker.name)
    maker.program.wait(20, event="joined")
    for peer in peers:
        if peer is not maker:
            maker.program.do(do="member", room=ROOM, jid=peer.jid)
            maker.program.wait(20, event="member", jid=peer.jid)
    return ROOM


def enter_room(maker, peers):
    """One makes a room, the others enter."""
    room = make_room(maker, peers)
    for peer in peers:
        if peer is maker:
            continue
        if peer.kind in ("Dino", "Gajim"):  # they enter at their start
            peer.stop()
            peer.rooms.append(room)
            peer.start()
            peer.ready()
        else:
            peer.program.do(do="join", room=room, nick=peer.name)
            peer.program.wait(30, event="joined", room=room)
    time.sleep(3)
    return room


def start_all(peers):
    for peer in peers:  # one after the other, to be light
        peer.start()
        peer.ready()
        say("%s (%s) is online, device %s" % (peer.name, peer.kind, peer.program.find(event="online")["device"]))


def restart_all(peers):
    for peer in peers:
        peer.stop(kill=peer.kind in KILLED)
    start_all(peers)


def contacts(server, names):
    subprocess.run([PYTHON, HERE + "/contacts.py", str(server.port), server.authority, *names], check=True,
                   env={**os.environ, "PEER_PASSWORD": PASSWORD}, timeout=150 * PATIENCE, stderr=subprocess.DEVNULL)


def matrix(server, folder, names, version2):
    everybody = names + ["away"]
    peers = [Peer(name, KINDS[name], server, folder, everybody) for name in names]
    away = Peer("away", "kalij", server, folder, everybody)
    seconds = [Peer(name + "+", "omemo_peer", server, folder, everybody)
               for name in ("first", "alice") if version2 and name in names]
    for peer in peers + [away] + seconds:
        peer.version2 = version2
    results = []

    def show(title, cells):
        table("%s%s, %s" % (server.name, " with version 2" if version2 else "", title), cells)
        results.extend(cells.values())

    try:
        contacts(server, everybody)
        start_all(seconds + peers + [away])
        show("1:1, first contact", everyone_to_everyone(peers, "first", seconds))
        show("1:1, first contact while kalij was away", everyone_to_one_away(peers, away))
        restart_all(peers)
        show("1:1, after all were restarted", everyone_to_everyone(peers, "again", seconds))
        for kind in KILLED:
            maker = next((peer for peer in peers if peer.kind == kind), None)
            if maker is not None:
                room = enter_room(maker, peers)
                show("a room made by %s" % maker.name, everyone_to_room(peers, room, "room of " + maker.name))
    finally:
        for peer in peers + [away] + seconds:
            peer.stop()
        for peer in seconds:
            say("stanzas with two parts that %s has seen, by the sender: %s" % (peer.name, peer.two_parts()))
        for peer in peers + [away] + seconds:
            for one in peer.history:
                if one["event"] in ("undecryptable", "failed", "error", "repeated", "left-out"):
                    print("  %s reported: %s" % (peer.name, {key: one[key] for key in one if key != "more"}))
    return all(one.startswith("ok") for one in results)


def kills(server, folder, count):
    """Kills at random while numbered messages go both ways; then each number must have been reported once."""
    peers = [Peer(name, "omemo_peer", server, folder, ["alice", "bob"]) for name in ("alice", "bob")]
    sent = {peer.name: [] for peer in peers}
    start_all(peers)
    seed = random.randrange(1 << 30)
    dice = random.Random(seed)
    say("seed %d" % seed)
    try:
        # First a session that both have used: when two key exchanges cross, python-omemo loses both sessions.
        for peer, other in (peers, peers[::-1]):
            peer.send("hello from " + peer.name, to=other.jid)
            other.program.wait(20, event="message", body="hello from " + peer.name)
            sent[peer.name].append("hello from " + peer.name)
        for number in range(count):
            for peer, other in (peers, peers[::-1]):
                for _ in range(dice.randrange(1, 6)):
                    body = "%s %d" % (peer.name, len(sent[peer.name]) + 1)
                    sent[peer.name].append(body)
                    peer.send(body, to=other.jid)
            time.sleep(dice.uniform(0, 0.6))
            victim = dice.choice(peers)
            victim.stop(kill=True)
            victim.start()
            # Killed while it starts, every third time; else it comes online.
            if number % 3:
                victim.ready()
            other = peers[1 - peers.index(victim)]
            # A command that had not been read when it was killed is given again: the id decides.
            known = {one.get("id") for one in victim.history + victim.program.seen if one["event"] == "accepted"}
            for body in sent[victim.name]:
                if body.replace(" ", "-") not in known:
                    victim.send(body, to=other.jid)
        for peer in peers:
            peer.ready()

        def reports(peer):
            found = {}
            for one in peer.history + peer.program.seen:
                if one["event"] == "message":
                    found.setdefault(one["seq"], one["body"])
            return list(found.values())

        def complete():
            return all(set(sent[peer.name]) <= set(reports(other)) for peer, other in (peers, peers[::-1]))
        try:
            wait(40, "all messages", complete)
        except TimeoutError as late:
            say(str(late))
        good = True
        for peer, other in (peers, peers[::-1]):
            got = reports(other)
            lost = set(sent[peer.name]) - set(got)
            twice = len(got) - len(set(got))
            bad = [one for one in other.history + other.program.seen if one["event"] in ("undecryptable", "repeated")]
            say("%s to %s: %d sent, %d lost, %d twice, %d undecryptable or repeated, in order: %s" % (
                peer.name, other.name, len(sent[peer.name]), len(lost), twice, len(bad), got == sent[peer.name]))
            for one in bad[:5] + sorted(lost)[:5]:
                say("   %s" % (one,))
            good = good and not lost and not twice and not bad
        return good
    finally:
        for peer in peers:
            peer.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("servers", nargs="*", default=["prosody", "ejabberd"])
    parser.add_argument("--peers", default=",".join(name for name in KINDS if name != "bob"))
    parser.add_argument("--folder")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--version2", action="store_true")
    options = parser.parse_args()
    folder = options.folder or tempfile.mkdtemp(prefix="omemo-peers-")
    names = options.peers.split(",")
    good = True
    for kind in options.servers:
        place = os.path.join(os.path.abspath(folder), kind)
        server = {"prosody": Prosody, "ejabberd": Ejabberd}[kind](place + "/server")
        try:
            say("%s runs on port %d, files are in %s" % (server.name, server.port, place))
            for name in {*names, "alice", "bob", "away"}:
                server.register(name, PASSWORD)
            good = (kills(server, place, options.kills) if options.kills
                    else matrix(server, place, names, options.version2)) and good
        finally:
            server.stop()
    if good and not options.folder:
        shutil.rmtree(folder)
    return 0 if good else 1


sys.exit(main())
