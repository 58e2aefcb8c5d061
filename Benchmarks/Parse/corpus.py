#!/usr/bin/python3
"""Writes a stream of N mixed stanzas, like an active account's, to standard output; always the same stanzas.

usage: corpus.py N [--repeat TIMES]     the N stanzas TIMES over, for a stream of any length
       corpus.py N --new-names          N small stanzas whose names and namespaces never repeat
"""
import base64, random, sys, uuid

R = random.Random(20261121)
WORDS = ("the of and to in is that it was for on are as with his they at be this have from or one had by word but not what all "
         "were we when your can said there use an each which she do how their if will up other about out many then them these so").split()
NAMES = ["romeo", "juliet", "mercutio", "nurse", "benvolio", "tybalt", "paris", "rosaline"]
HEADER = ("<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' "
          "from='example.org' id='x' version='1.0' xml:lang='en'>")
FEATURES = ["http://jabber.org/protocol/disco#info", "http://jabber.org/protocol/caps", "urn:xmpp:mam:2", "urn:xmpp:sid:0",
            "http://jabber.org/protocol/muc", "urn:xmpp:receipts", "urn:xmpp:chat-markers:0", "urn:xmpp:message-correct:0",
            "urn:xmpp:reactions:0", "urn:xmpp:ping", "urn:xmpp:jingle:1", "urn:xmpp:http:upload:0", "urn:xmpp:carbons:2",
            "eu.siacs.conversations.axolotl.devicelist+notify", "http://jabber.org/protocol/nick+notify", "vcard-temp"]


def identifier():
    return str(uuid.UUID(int=R.getrandbits(128), version=4))


def jid(resource=True):
    return "%s@example.%s" % (R.choice(NAMES), R.choice(["org", "net", "com"])) + ("/phone.%04x" % R.getrandbits(16) if resource else "")


def stamp():
    return "2026-%02d-%02dT%02d:%02d:%02dZ" % (R.randint(1, 12), R.randint(1, 28), R.randint(0, 23), R.randint(0, 59), R.randint(0, 59))


def text():
    words = [R.choice(WORDS) for _ in range(min(120, 1 + int(R.expovariate(1 / 14))))]
    if R.random() < 0.15:
        words.insert(R.randrange(len(words)), R.choice(["&lt;3", "caf\u00e9", "\u65e5\u672c\u8a9e", "\U0001F600", "Q&amp;A", "&apos;so&apos;"]))
    return " ".join(words)


def data(size):
    return base64.b64encode(R.randbytes(size)).decode()


def message():
    own = identifier()
    return ("<message xml:lang='en' to='juliet@example.org/balcony' from='%s' type='chat' id='%s'><body>%s</body>"
            "<active xmlns='http://jabber.org/protocol/chatstates'/><request xmlns='urn:xmpp:receipts'/>"
            "<markable xmlns='urn:xmpp:chat-markers:0'/><origin-id xmlns='urn:xmpp:sid:0' id='%s'/>"
            "<stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='%d'/></message>"
            % (jid(), own, text(), own, R.getrandbits(50)))


def marker():
    return ("<message to='juliet@example.org/balcony' from='%s' type='chat' id='%s'><displayed xmlns='urn:xmpp:chat-markers:0' id='%s'/>"
            "<store xmlns='urn:xmpp:hints'/></message>" % (jid(), identifier(), identifier()))


def result():
    own = identifier()
    return ("<message to='juliet@example.org/balcony' from='juliet@example.org'><result xmlns='urn:xmpp:mam:2' queryid='q%d' id='%d'>"
            "<forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='%s'/><message xmlns='jabber:client' "
            "xml:lang='en' to='juliet@example.org' from='%s' type='chat' id='%s'><body>%s</body><markable "
            "xmlns='urn:xmpp:chat-markers:0'/><origin-id xmlns='urn:xmpp:sid:0' id='%s'/></message></forwarded></result></message>"
            % (R.randint(1, 9), R.getrandbits(50), stamp(), jid(), own, text(), own))


def encrypted():
    keys = "".join("<key rid='%d'%s>%s</key>" % (R.getrandbits(31), " prekey='true'" if R.random() < 0.2 else "", data(49))
                   for _ in range(R.randint(4, 14)))
    return ("<message to='juliet@example.org/balcony' from='%s' type='chat' id='%s'><encrypted xmlns='eu.siacs.conversations.axolotl'>"
            "<header sid='%d'>%s<iv>%s</iv></header><payload>%s</payload></encrypted><encryption xmlns='urn:xmpp:eme:0' name='OMEMO' "
            "namespace='eu.siacs.conversations.axolotl'/><body>I sent you an OMEMO encrypted message.</body><store xmlns='urn:xmpp:hints'/>"
            "</message>" % (jid(), identifier(), R.getrandbits(31), keys, data(12), data(R.randint(20, 200))))


def room_presence():
    return ("<presence to='juliet@example.org/balcony' from='stage%d@rooms.example.org/%s'><c xmlns='http://jabber.org/protocol/caps' "
            "hash='sha-1' node='https://example.org/client' ver='%s'/><x xmlns='vcard-temp:x:update'><photo>%040x</photo></x>"
            "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='%s'/><x xmlns='http://jabber.org/protocol/muc#user'>"
            "<item affiliation='%s' role='participant' jid='%s'/></x></presence>"
            % (R.randint(1, 20), R.choice(NAMES), data(20), R.getrandbits(160), data(32), R.choice(["none", "member", "owner"]), jid()))


def room_message():
    return ("<message to='juliet@example.org/balcony' from='stage%d@rooms.example.org/%s' type='groupchat' id='%s'><body>%s</body>"
            "<stanza-id xmlns='urn:xmpp:sid:0' by='stage@rooms.example.org' id='%s'/><occupant-id xmlns='urn:xmpp:occupant-id:0' id='%s'/>"
            "</message>" % (R.randint(1, 20), R.choice(NAMES), identifier(), text(), identifier(), data(32)))


def disco():
    features = "".join("<feature var='%s'/>" % feature for feature in R.sample(FEATURES, R.randint(8, len(FEATURES))))
    return ("<iq to='juliet@example.org/balcony' from='%s' type='result' id='%s'><query xmlns='http://jabber.org/protocol/disco#info' "
            "node='https://example.org/client#x'><identity category='client' type='phone' name='Client'/>%s<x xmlns='jabber:x:data' "
            "type='result'><field var='FORM_TYPE' type='hidden'><value>urn:xmpp:dataforms:softwareinfo</value></field>"
            "<field var='os'><value>Debian</value></field></x></query></iq>" % (jid(), identifier(), features))


def roster():
    items = "".join("<item jid='%s' name='%s' subscription='both'><group>%s</group></item>"
                    % (jid(False), R.choice(WORDS).title(), R.choice(["Family", "Verona", "Work"])) for _ in range(R.randint(20, 80)))
    return ("<iq to='juliet@example.org/balcony' type='result' id='%s'><query xmlns='jabber:iq:roster' ver='%d'>%s</query></iq>"
            % (identifier(), R.getrandbits(20), items))


KINDS = [(message, 30), (marker, 12), (result, 22), (encrypted, 8), (room_presence, 14), (room_message, 8), (disco, 4), (roster, 0.5)]


def main():
    count = int(sys.argv[1])
    out = sys.stdout.buffer
    out.write(HEADER.encode())
    if "--new-names" in sys.argv:
        for start in range(0, count, 1000):
            out.write("".join("<e%d xmlns='urn:example:%d' a%d='v'/>" % (n, n, n) for n in range(start, min(start + 1000, count))).encode())
    else:
        makers, weights = zip(*KINDS)
        stanzas = "".join(R.choices(makers, weights)[0]() for _ in range(count)).encode()
        for _ in range(int(sys.argv[3]) if sys.argv[2:3] == ["--repeat"] else 1):
            out.write(stanzas)
    out.write(b"</stream:stream>")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        pass
