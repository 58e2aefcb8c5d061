#!/usr/bin/python3
"""A component (XEP-0114) with one crowded room, crowd@push.localhost: whoever enters is told of PEOPLE occupants, and then of CHANGES
who leave and come back. From the second join on the people say MESSAGES.

crowd.py PORT PEOPLE CHANGES [MESSAGES]

PORT is the server's component port, the key "component-key". Prints "connected", and a line "entered" for each join that has been
told everything. Loopback only.
"""
import hashlib
import socket
import sys
import xml.etree.ElementTree as ElementTree

port, people, changes = map(int, sys.argv[1:4])
messages = int(sys.argv[4]) if len(sys.argv) > 4 else 0
joins = 0
ROOM, DOMAIN = "crowd@push.localhost", "push.localhost"
MUC = "http://jabber.org/protocol/muc"
connection = socket.create_connection(("127.0.0.1", port))
connection.sendall(
    b"<?xml version='1.0'?><stream:stream xmlns='jabber:component:accept' xmlns:stream='http://etherx.jabber.org/streams' to='%s'>"
    % DOMAIN.encode())


def send(text):
    connection.sendall(text.encode())


def presence(to, nick, number, type="", status=""):
    return (
        "<presence from='%s/%s' to='%s'%s><x xmlns='%s#user'><item affiliation='member' role='participant' "
        "jid='person-%s@example.net/home'/>%s</x></presence>" % (ROOM, nick, to, type, MUC, number, status))


def say(to, number):
    send("<message from='%s/person %d' to='%s' type='groupchat' id='said-%d-%d'><body>message %06d %s</body></message>" % (
        ROOM, number * 7 % people, to, joins, number, number, "of the crowd " * (number % 9)))


def enter(to, nick):
    global joins
    joins += 1
    send("".join(presence(to, "person %d" % number, number) for number in range(people)))
    send(presence(to, nick, "self", status="<status code='110'/>"))
    send("<message from='%s' to='%s' type='groupchat'><subject/></message>" % (ROOM, to))
    for change in range(0, changes, 2):
        number = change // 2 % people
        send(presence(to, "person %d" % number, number, " type='unavailable'")
             + presence(to, "person %d" % number, number))
    if joins > 1:
        for number in range(messages):
            say(to, number + 1)
    print("entered", flush=True)


def answer(iq, content="", type="result"):
    send("<iq type='%s' id='%s' from='%s' to='%s'>%s</iq>" % (type, iq.get("id"), iq.get("to"), iq.get("from"), content))


def handle(stanza):
    name = stanza.tag.split("}")[1]
    if name == "handshake":
        print("connected", flush=True)
    elif name == "presence" and stanza.get("type") is None and "/" in stanza.get("to", ""):
        enter(stanza.get("from"), stanza.get("to").split("/", 1)[1])
    elif name == "iq" and stanza.get("type") in ("get", "set"):
        if stanza.find("{http://jabber.org/protocol/disco#info}query") is not None:
            features = "".join("<feature var='%s'/>" % one for one in (MUC, "muc_membersonly", "muc_nonanonymous"))
            answer(stanza, "<query xmlns='http://jabber.org/protocol/disco#info'>"
                           "<identity category='conference' type='text'/>%s</query>" % features)
        elif stanza.find("{urn:xmpp:ping}ping") is not None:
            answer(stanza)
        else:
            answer(stanza, "<error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>",
                   "error")


parser = ElementTree.XMLPullParser(["start", "end"])
depth = 0
while data := connection.recv(65536):
    parser.feed(data)
    for event, element in parser.read_events():
        depth += 1 if event == "start" else -1
        if event == "start" and depth == 1:
            key = (element.get("id") + "component-key").encode()
            send("<handshake>%s</handshake>" % hashlib.sha1(key).hexdigest())
        if event == "end" and depth == 1:
            handle(element)
            element.clear()
