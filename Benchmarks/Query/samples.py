#!/usr/bin/python3
"""Writes 64 stanzas of each kind for the queries to FOLDER/chat.xml, mam.xml, mucpres.xml, omemo.xml and disco.xml.

usage: samples.py FOLDER
"""
import base64, os, random, sys, uuid

R = random.Random(20261121)
WORDS = "the of and to in is that it was for on are as with his they at be this have from or one had by word but not what".split()
FEATURES = ["urn:xmpp:%s:%d" % (name, version) for version in range(3) for name in
            "ping mam carbons receipts hints sid delay blocking bookmarks push time reactions jingle upload styling".split()]
OWN = "juliet@capulet.example"


def text():
    words = " ".join(R.choice(WORDS) for _ in range(1 + min(80, int(R.expovariate(1 / 12)))))
    return words + R.choice(["", "", "", "", " &amp; so on", " – voilà ✓"])


def identifier(): return str(uuid.UUID(int=R.getrandbits(128), version=4))
def token(count): return base64.b64encode(R.randbytes(count)).decode()
def sender(): return "%s%d@montague.example/%s" % (R.choice(WORDS), R.randrange(99), token(6).replace("/", "."))
def stamp(): return "20%02d-%02d-%02dT%02d:%02d:%02d.%06dZ" % tuple(R.randrange(low, high) for low, high in (
    (20, 27), (1, 13), (1, 29), (0, 24), (0, 60), (0, 60), (0, 10**6)))


def content():
    marks = ["<markable xmlns='urn:xmpp:chat-markers:0'/>", "<request xmlns='urn:xmpp:receipts'/>",
             "<active xmlns='http://jabber.org/protocol/chatstates'/>"]
    return "<body>%s</body><origin-id xmlns='urn:xmpp:sid:0' id='%s'/>%s<stanza-id xmlns='urn:xmpp:sid:0' by='%s' id='%s'/>" % (
        text(), identifier(), "".join(mark for mark in marks if R.random() < 0.75), OWN, token(15))


def chat():
    delay = "<delay xmlns='urn:xmpp:delay' stamp='%s'/>" % stamp() if R.random() < 0.5 else ""
    return "<message xml:lang='en' id='%s' from='%s' type='chat' to='%s'>%s%s</message>" % (identifier(), sender(), OWN, content(), delay)


def mam():
    return ("<message from='%s' to='%s'><result xmlns='urn:xmpp:mam:2' queryid='%s' id='%s'><forwarded xmlns='urn:xmpp:forward:0'>"
            "<delay xmlns='urn:xmpp:delay' stamp='%s'/><message xmlns='jabber:client' id='%s' from='%s' to='%s' type='chat'>%s"
            "</message></forwarded></result></message>") % (
                OWN, OWN, identifier(), token(15), stamp(), identifier(), sender(), OWN, content())


def mucpres():
    return ("<presence from='%s' id='%s' to='%s'><c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='urn:x' ver='%s'/>"
            "<x xmlns='http://jabber.org/protocol/muc#user'><item affiliation='%s' jid='%s' role='%s'/></x></presence>") % (
                sender(), identifier(), OWN, token(20), R.choice(["member", "owner", "none"]), sender(),
                R.choice(["participant", "moderator", "visitor"]))


def omemo():
    keys = "".join("<key rid='%d'%s>%s</key>" % (R.randrange(2**31), " prekey='true'" if R.random() < 0.25 else "", token(130))
                   for _ in range(5))
    return ("<message id='%s' from='%s' type='chat' to='%s'><encrypted xmlns='eu.siacs.conversations.axolotl'><header sid='%d'>%s"
            "<iv>%s</iv></header><payload>%s</payload></encrypted><store xmlns='urn:xmpp:hints'/>%s</message>") % (
                identifier(), sender(), OWN, R.randrange(2**31), keys, token(12), token(90), content())


def disco():
    features = R.sample(FEATURES, 40)
    features[R.randrange(40)] = "urn:xmpp:mam:2"
    return ("<iq id='%s' type='result' from='%s' to='%s'><query xmlns='http://jabber.org/protocol/disco#info'>"
            "<identity category='client' type='pc' name='x'/>%s</query></iq>") % (
                identifier(), sender(), OWN, "".join("<feature var='%s'/>" % name for name in features))


for kind in (chat, mam, mucpres, omemo, disco):
    with open(os.path.join(sys.argv[1], kind.__name__ + ".xml"), "w", encoding="utf-8") as file:
        file.write("<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' from='capulet.example' "
                   "id='x' version='1.0'>%s</stream:stream>" % "".join(kind() for _ in range(64)))
