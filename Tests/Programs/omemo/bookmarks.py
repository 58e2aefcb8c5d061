#!/usr/bin/python3
"""Publishes rooms as an account's bookmarks with autojoin: bookmarks.py JID PORT CA ROOM/NICK... (PEER_PASSWORD).

Dino and Gajim enter bookmarked rooms by themselves. Written both ways, because clients choose by what the server says:
private storage (XEP-0049), and PEP as in XEP-0402. What a server refuses of it is left out, if it takes one.
"""
import asyncio
import os
import sys
from xml.etree import ElementTree as ET

import slixmpp
from slixmpp.exceptions import IqError

PUBSUB = "http://jabber.org/protocol/pubsub"
OPTIONS = {"FORM_TYPE": PUBSUB + "#publish-options", "pubsub#persist_items": "true", "pubsub#access_model": "whitelist"}
NEW, OLD = "urn:xmpp:bookmarks:1", "storage:bookmarks"


def private(rooms):
    query = ET.Element("{jabber:iq:private}query")
    storage = ET.SubElement(query, "{%s}storage" % OLD)
    for jid, nick in rooms:
        conference = ET.SubElement(storage, "{%s}conference" % OLD, jid=jid, name=jid, autojoin="true")
        ET.SubElement(conference, "{%s}nick" % OLD).text = nick
    return query


def published(jid, nick):
    pubsub = ET.Element("{%s}pubsub" % PUBSUB)
    item = ET.SubElement(ET.SubElement(pubsub, "{%s}publish" % PUBSUB, node=NEW), "{%s}item" % PUBSUB, id=jid)
    conference = ET.SubElement(item, "{%s}conference" % NEW, autojoin="true", name=jid)
    ET.SubElement(conference, "{%s}nick" % NEW).text = nick
    form = ET.SubElement(ET.SubElement(pubsub, "{%s}publish-options" % PUBSUB), "{jabber:x:data}x", type="submit")
    for name, value in OPTIONS.items():
        ET.SubElement(ET.SubElement(form, "{jabber:x:data}field", var=name), "{jabber:x:data}value").text = value
    return pubsub


async def main(jid, port, authority, rooms):
    client = slixmpp.ClientXMPP(jid + "/bookmarks", os.environ["PEER_PASSWORD"])
    client.ca_certs = authority
    begun = asyncio.get_running_loop().create_future()
    client.add_event_handler("session_start", begun.set_result)
    client.connect(("127.0.0.1", port))
    await asyncio.wait_for(begun, 60)
    taken = 0
    for content in [private(rooms)] + [published(*room) for room in rooms]:
        iq = client.make_iq_set()
        iq.append(content)
        try:
            await iq.send(timeout=60)
            taken += 1
        except IqError as error:
            sys.stderr.write("bookmarks: %s: %s\n" % (content.tag, error.condition))
    client.abort()
    return 0 if taken else 1

loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
status = loop.run_until_complete(main(
    sys.argv[1], int(sys.argv[2]), sys.argv[3], [tuple(room.split("/", 1)) for room in sys.argv[4:]]))
os._exit(status)
