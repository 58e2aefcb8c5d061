#!/usr/bin/python3
"""Tells what the clients' stanzas look like: look.py FOLDER JID [--samples]

FOLDER is that of an omemo_peer that ran with --stanzas, JID its address. For each sender's device: sizes of IV, payload
and transported key, what is in the stanza beside the encryption, key exchanges, empty messages, and whether pn (the
length of the chain before) is what the messages themselves show. Reads the wire format of OMEMO 0.3 (version byte,
protobuf, eight bytes of MAC); no keys. With --samples one stanza of each kind, long texts cut.
"""
import base64
import collections
import re
import sqlite3
import sys
from xml.etree import ElementTree as ET

OLD = "{eu.siacs.conversations.axolotl}"
CLIENT = "{jabber:client}"


def varint(data, place):
    value = shift = 0
    while True:
        value |= (data[place] & 127) << shift
        shift += 7
        place += 1
        if data[place - 1] < 128:
            return value, place


def fields(data):
    """The fields of a protobuf message of varints and byte strings."""
    found, place = {}, 0
    while place < len(data):
        tag, place = varint(data, place)
        value, place = varint(data, place)
        if tag & 7 == 2:
            value, place = data[place:place + value], place + value
        found[tag >> 3] = value
    return found


def header(key):
    """Ratchet key, n, pn, sizes; of a key exchange those of the message in it."""
    data = base64.b64decode(key.text)
    exchange = None
    if key.get("prekey") in ("1", "true"):
        exchange = fields(data[1:])
        data = exchange[4]
    inner = fields(data[1:-8])
    return inner[1], inner.get(2, 0), inner.get(3, 0), len(inner[4]), exchange


def main():
    folder, jid = sys.argv[1:3]
    device = sqlite3.connect(folder + "/peer.sqlite").execute(
        "SELECT value FROM omemo WHERE key='/own_device_id'").fetchone()[0]
    facts = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    chains = collections.defaultdict(list)
    samples = {}
    seen = set()
    with open(folder + "/stanzas", encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines:
        _, direction, text = line.split(" ", 2)
        for message in ET.fromstring("<a>%s</a>" % text).iter(CLIENT + "message"):
            element = message.find(OLD + "encrypted")
            if element is None:
                continue
            sid = element.find(OLD + "header").get("sid")
            mark = (sid, message.get("id"), direction, (element.find(OLD + "header/" + OLD + "key").text))
            if mark in seen:
                continue
            seen.add(mark)
            sender = (message.get("from") or jid) if message.get("type") != "groupchat" else "room/" + sid
            who = sender if sender.startswith("room/") else re.sub("/.*", "", sender)
            who = "own " + who if direction == "out" else who
            payload, iv = element.find(OLD + "payload"), element.find(OLD + "header/" + OLD + "iv")
            keys = element.findall(OLD + "header/" + OLD + "key")
            kind = "%s%s%s" % (message.get("type"), "" if payload is not None else " empty",
                               " kex" if any(key.get("prekey") in ("1", "true") for key in keys) else "")
            samples.setdefault((who, kind), message)
            one = facts[who, sid]
            one["kind"][kind] += 1
            one["IV bytes"][len(base64.b64decode(iv.text)) if iv is not None and iv.text else "none"] += 1
            one["children"][" ".join(re.sub(".*}", "", child.tag) for child in message)] += 1
            one["fallback"][(message.findtext(CLIENT + "body") or "none")[:60]] += 1
            for key in keys:
                one["prekey attribute"][key.get("prekey") or "absent"] += 1
                if direction == "in" and key.get("rid") != str(device):
                    continue
                ratchet, number, previous, size, exchange = header(key)
                one["sealed key bytes"][size] += 1
                one["version byte"]["0x%02x" % base64.b64decode(key.text)[0]] += 1
                if exchange:
                    one["kex fields"]["prekey %s, signed %s, registration %s" % (
                        "present" if 1 in exchange else "absent", "present" if 6 in exchange else "absent",
                        "is the sid" if str(exchange.get(5)) == sid else exchange.get(5, "absent"))] += 1
                chains[sid, key.get("rid")].append((ratchet, number, previous, bool(exchange)))
    for (sid, rid), steps in chains.items():
        longest, order = collections.Counter(), []
        for ratchet, number, previous, _ in steps:
            if ratchet not in longest:
                if order:
                    short = longest[order[-1]] - previous
                    for who, known in facts:
                        if known == sid:
                            facts[who, known]["chain's length minus pn"][short] += 1
                order.append(ratchet)
                longest[ratchet] = 0
            longest[ratchet] = max(longest[ratchet], number + 1)
    for (who, sid), one in sorted(facts.items()):
        print("%s, device %s" % (who, sid))
        for name, values in one.items():
            print("    %s: %s" % (name, "; ".join("%s (%d)" % item for item in values.most_common(6))))
    if "--samples" in sys.argv:
        for name, space in (("", "jabber:client"), ("o", OLD[1:-1])):
            if name:
                ET.register_namespace(name, space)
        for (who, kind), message in sorted(samples.items()):
            text = ET.tostring(message, encoding="unicode").replace("ns0:", "").replace(":ns0", "")
            print("\n%s, %s:\n%s" % (who, kind, re.sub(r">([^<]{60})[^<]{20,}<", r">\1...<", text)))


if __name__ == "__main__":
    main()
