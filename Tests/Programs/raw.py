#!/usr/bin/python3
"""A client, or a component, that sends whatever it is told, and reports whatever it gets.

raw.py JID PORT --ca FILE     a client at a server on this machine; the password comes from PEER_PASSWORD
raw.py DOMAIN PORT            a component (XEP-0114) with the key "component-key"

Each line of standard input is sent as it is. Each message and each request or answer is a line of JSON on standard output:
{"name": "message" or "iq", "id": ID, "type": TYPE, "from": JID, "xml": TEXT, "bytes": N}; of a long stanza the end of the text is
left out. The first line is {"name": "ready"}. The end of the input or the line "quit" ends the program. What others ask a component is refused.
"""
import asyncio
import json
import os
import sys
from xml.etree import ElementTree

import slixmpp

LONGEST = 200_000
name, port, rest = sys.argv[1], int(sys.argv[2]), sys.argv[3:]


def say(**fields):
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def report(stanza):
    if stanza.name in ("message", "iq"):
        xml = ElementTree.tostring(stanza.xml, encoding="unicode")
        say(name=stanza.name, id=stanza["id"], type=stanza["type"], **{"from": str(stanza["from"])}, xml=xml[:LONGEST],
            bytes=len(xml.encode()))
    return stanza


async def commands(client):
    reader = asyncio.StreamReader(limit=64 << 20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while True:
        line = (await reader.readline()).decode().strip()
        if line in ("", "quit"):
            break
        client.send_raw(line)
    await client.disconnect(wait=5)


def started(_):
    if rest:
        client.send_presence()
    say(name="ready")
    client.commands = asyncio.ensure_future(commands(client))


def ended(_):
    if not client.finished.done():
        client.finished.set_result(None)


if rest:
    client = slixmpp.ClientXMPP(name, os.environ.get("PEER_PASSWORD", ""))
    client.ca_certs = rest[1]
    client.connect(("127.0.0.1", port))
else:
    client = slixmpp.ComponentXMPP(name, "component-key", "127.0.0.1", port)
    client.connect()
client.finished = client.loop.create_future()
client.add_filter("in", report)
client.add_event_handler("session_start", started)
client.add_event_handler("disconnected", ended)
client.loop.run_until_complete(client.finished)
