#!/usr/bin/python3
"""Writes N recorded chat messages to standard output, with an <r/> after every tenth, like servers.

usage: recording.py N [--stream] [--receipts]
  --stream      a whole stream, with header and end
  --receipts    the messages ask for receipts (XEP-0184)
"""
import base64, random, sys, uuid

R = random.Random(20261121)
WORDS = ("the of and to in is that it was for on are as with his they at be this have from or one had by word but not what all "
         "were we when your can said there use an each which she do how their if will up other about out many then them these so").split()


def text():
    return " ".join(R.choice(WORDS) for _ in range(min(90, 1 + int(R.expovariate(1 / 12)))))


STREAM = "--stream" in sys.argv[2:]
REQUEST = "<request xmlns='urn:xmpp:receipts'/>" if "--receipts" in sys.argv[2:] else ""
if STREAM:
    sys.stdout.write("<?xml version='1.0'?><stream:stream xmlns='jabber:client' "
                     "xmlns:stream='http://etherx.jabber.org/streams' from='localhost' id='x' version='1.0'>")
for number in range(1, int(sys.argv[1]) + 1):
    identifier = str(uuid.UUID(int=R.getrandbits(128), version=4))
    sys.stdout.write(
        "<message xml:lang='en' id='%s' from='contact%d@localhost/phone' type='chat' to='juliet@localhost/scripted'>"
        "<body>%s</body><markable xmlns='urn:xmpp:chat-markers:0'/><origin-id xmlns='urn:xmpp:sid:0' id='%s'/>"
        "<active xmlns='http://jabber.org/protocol/chatstates'/>%s</message>"
        % (identifier, R.randrange(200), text(), identifier, REQUEST))
    if number % 10 == 0:
        sys.stdout.write("<r xmlns='urn:xmpp:sm:3'/>")
if STREAM:
    sys.stdout.write("</stream:stream>")
