#!/usr/bin/python3
"""An independent XMPP client for the laboratory: slixmpp, none of Kalij's code.

peer.py chat      numbered messages without pause, everything received is reported; with --nick in a room, which is made if
                  there is none
peer.py archive   the whole archive of an account, in the server's order; with --of of a room
peer.py raw       the bytes of standard input, sent unchanged
peer.py push      has the server push to a device (XEP-0357), and goes away
peer.py slot      asks for a place to upload a file (XEP-0363), and goes away
peer.py answer    answers each <question xmlns='urn:example:question'/>, some time later; with --caps announces its features
                  in presence, and answers questions about them

The password comes from PEER_PASSWORD. One JSON object a line on standard output.
Exit status: 0 done, 69 no connection, 70 the server answered with an error, 77 authentication refused.
"""
import argparse
import asyncio
import json
import os
import random
import sys
import time
from xml.etree import ElementTree

import slixmpp

MAM = "urn:xmpp:mam:2"
RSM = "http://jabber.org/protocol/rsm"
FORWARD = "urn:xmpp:forward:0"
DELAY = "urn:xmpp:delay"
SID = "urn:xmpp:sid:0"
OMEMO = ("eu.siacs.conversations.axolotl", "urn:xmpp:omemo:2")
CLIENT = "jabber:client"
QUESTION = "urn:example:question"
DISCO = "http://jabber.org/protocol/disco#info"
RECEIPTS = "urn:xmpp:receipts"
MARKERS = "urn:xmpp:chat-markers:0"
HINTS = "urn:xmpp:hints"
CORRECTION = "urn:xmpp:message-correct:0"
RETRACTION = "urn:xmpp:message-retract:%d"
FASTENING = "urn:xmpp:fasten:0"
REACTIONS = "urn:xmpp:reactions:0"
MUC = "http://jabber.org/protocol/muc"
UPLOAD = "urn:xmpp:http:upload:0"
# Seconds after which an answer does not come any more.
HUNG = 280
EMOJI = ["\U0001F44D", "\U0001F389", "\u2764\uFE0F", "\U0001F602"]


def say(event, **fields):
    fields = {"event": event, "at": time.time(), **fields}
    sys.stdout.write(json.dumps(fields, ensure_ascii=False) + "\n")
    sys.stdout.flush()


class Peer(slixmpp.ClientXMPP):
    def __init__(self, options, work):
        super().__init__(options.jid, os.environ.get("PEER_PASSWORD", ""))
        self.options = options
        self.work = work
        self.status = 0
        self.ca_certs = options.ca
        self.stopping = False
        self.sent = 0
        self.burst = 0
        self.begun = False
        self.online = asyncio.Event()
        self.offline = asyncio.Event()
        self.leaving = asyncio.Event()
        self.finished = self.loop.create_future()
        self.add_event_handler("session_start", self.started)
        self.add_event_handler("failed_all_auth", lambda _: self.end(77, "authentication refused"))
        self.add_event_handler("connection_failed", self.not_connected)
        self.add_event_handler("ssl_invalid_chain", lambda why: self.end(69, "certificate: %s" % why))
        self.add_event_handler("disconnected", self.lost)
        if getattr(options, "caps", False):
            for plugin in ("xep_0030", "xep_0115", "xep_0199"):
                self.register_plugin(plugin)
            self.add_filter("in", self.note_discovery)

    def end(self, status, why=None):
        if self.stopping:
            return
        self.stopping = True
        self.status = status
        if why:
            say("failed", reason=why)
            sys.stderr.write("peer: %s\n" % why)
        self.abort()
        self.finished.set_result(None)

    def note_discovery(self, stanza):
        """Reports entities that ask for this client's features, and features learned by the hash in presence."""
        query = stanza.xml.find("{%s}query" % DISCO)
        if query is not None and stanza["type"] in ("get", "result"):
            say("asked about itself" if stanza["type"] == "get" else "told", sender=str(stanza["from"]),
                id=stanza["id"], body=query.get("node"))
        return stanza

    def lost(self, why):
        if not self.come_back(why):
            self.end(69, "the connection ended: %s" % why)

    def not_connected(self, why):
        if not self.come_back(why):
            self.end(69, "no connection: %s" % why)

    def come_back(self, why):
        """With --reconnect: tries to connect again in a moment, until connected."""
        if not getattr(self.options, "reconnect", False) or self.stopping or not self.begun:
            return False
        if self.online.is_set():
            say("disconnected", reason=str(why))
        self.online.clear()
        self.offline.set()
        self.loop.call_later(0.3, self.connect_again)
        return True

    def connect_again(self):
        if not self.stopping and not self.online.is_set():
            self.connect((self.options.host, self.options.port))

    async def started(self, _):
        self.offline.clear()
        self.online.set()
        if self.begun:
            say("reconnected")
            self.send_presence()
            return
        self.begun = True
        try:
            await self.work(self)
            self.stopping = True
            try:
                await asyncio.wait_for(self.disconnect(wait=5), 10)
            except asyncio.TimeoutError:
                self.abort()
            self.finished.set_result(None)
        except slixmpp.exceptions.IqError as error:
            self.end(70, "the server answered: %s" % error.condition)
        except slixmpp.exceptions.IqTimeout:
            self.end(70, "no answer from the server")

    async def barrier(self):
        """Comes back once the server has answered a request made after everything sent so far. If the connection ends
        meanwhile and comes back (--reconnect), what was sent before may be lost. Who leaves without a connection waits for none."""
        while True:
            ways = [asyncio.ensure_future(event.wait()) for event in (self.online, self.leaving)]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            if not self.online.is_set():
                return
            ping = self.make_iq_get(ito=self.boundjid.host)
            ping.append(ElementTree.Element("{urn:xmpp:ping}ping"))
            answer = asyncio.ensure_future(ping.send(timeout=HUNG))
            gone = asyncio.ensure_future(self.offline.wait())
            await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
            gone.cancel()
            if not answer.done():
                answer.cancel()
                continue
            try:
                answer.result()
            except slixmpp.exceptions.IqError:
                pass  # an error is an answer too
            return


def operation_in(message):
    """What a message does to another: kind, id of the other, content; None if it is a message of its own."""
    replace = message.xml.find("{%s}replace" % CORRECTION)
    if replace is not None:
        return "correction", replace.get("id"), message["body"]
    for version in (0, 1):
        retract = message.xml.find("{%s}retract" % (RETRACTION % version))
        if retract is not None:
            return "retraction", retract.get("id"), None
    reactions = message.xml.find("{%s}reactions" % REACTIONS)
    if reactions is not None:
        return "reaction", reactions.get("id"), " ".join(one.text or "" for one in reactions)
    return None


class Operating:
    """Corrects and retracts this client's messages at random, reacts to the other side's, and says that they were seen."""

    def __init__(self, peer):
        self.peer, self.mine, self.others, self.seen = peer, [], [], None

    def operate(self):
        kinds = (["correction"] * 4 + ["retraction"]) * bool(self.mine) + ["reaction"] * (3 * bool(self.others))
        if self.peer.options.markers and self.others and self.others[-1] != self.seen:
            kinds.append("marker")
        if kinds and random.random() < 0.5:
            getattr(self, random.choice(kinds))()

    def marker(self):
        self.seen = self.others[-1]
        message = self.peer.make_message(mto=self.peer.options.to, mtype="chat")
        message.xml.append(ElementTree.Element("{%s}displayed" % MARKERS, id=self.seen))
        message.send()

    def message(self, kind, target, content):
        message = self.peer.make_message(mto=self.peer.options.to, mtype="chat")
        message.xml.append(ElementTree.Element("{%s}store" % HINTS))
        say("operation", id=message["id"], kind=kind, target=target, body=content)
        return message

    def correction(self):
        target = random.choice(self.mine[-20:])
        body = "corrected %d" % random.randrange(1000000)
        message = self.message("correction", target, body)
        message["body"] = body
        message.xml.append(ElementTree.Element("{%s}replace" % CORRECTION, id=target))
        message.send()

    def retraction(self):
        target = random.choice(self.mine[-20:])
        message = self.message("retraction", target, None)
        if random.random() < 0.5:
            message.xml.append(ElementTree.Element("{%s}retract" % (RETRACTION % 1), id=target))
        else:
            outer = ElementTree.SubElement(message.xml, "{%s}apply-to" % FASTENING, id=target)
            ElementTree.SubElement(outer, "{%s}retract" % (RETRACTION % 0))
        message["body"] = "this client does not know retractions"
        message.send()

    def reaction(self):
        target = random.choice(self.others[-20:])
        emoji = random.sample(EMOJI, random.randrange(4))
        message = self.message("reaction", target, " ".join(emoji))
        reactions = ElementTree.SubElement(message.xml, "{%s}reactions" % REACTIONS, id=target)
        for one in emoji:
            ElementTree.SubElement(reactions, "{%s}reaction" % REACTIONS).text = one
        message.send()


def note_given(stanza):
    """Reports receipts and markers that this client gives, and messages that ask for a receipt. What is given is archived: ejabberd
    archives nothing without a text."""
    if stanza.name == "message":
        for kind, name in (("receipt", "{%s}received" % RECEIPTS), ("marker", "{%s}displayed" % MARKERS)):
            given = stanza.xml.find(name)
            if given is not None:
                if stanza.xml.find("{%s}store" % HINTS) is None:
                    stanza.xml.append(ElementTree.Element("{%s}store" % HINTS))
                say("given", id=stanza["id"], kind=kind, target=given.get("id"))
        if stanza.xml.find("{%s}request" % RECEIPTS) is not None:
            say("requested", id=stanza["id"])
    return stanza


async def lines_of_standard_input():
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader, transport


async def enter(peer, room, nick):
    """Enters a room (XEP-0045); a new room is configured with the fields of --field."""
    entered = asyncio.get_running_loop().create_future()

    def presence(stanza):
        x = stanza.xml.find("{%s#user}x" % MUC)
        codes = [] if x is None else [status.get("code") for status in x.findall("{%s#user}status" % MUC)]
        say("presence", sender=str(stanza["from"]), type=stanza.xml.get("type"), body=",".join(codes))
        if "110" in codes and stanza.xml.get("type") is None and not entered.done():
            entered.set_result("201" in codes)

    peer.register_handler(slixmpp.xmlstream.handler.Callback(
        "room", slixmpp.xmlstream.matcher.MatchXPath("{%s}presence" % CLIENT),
        lambda stanza: presence(stanza) if stanza["from"].bare == room else None))
    joining = peer.make_presence(pto="%s/%s" % (room, nick))
    x = ElementTree.SubElement(joining.xml, "{%s}x" % MUC)
    ElementTree.SubElement(x, "{%s}history" % MUC, maxstanzas="0")
    joining.send()
    if await asyncio.wait_for(entered, HUNG):
        iq = peer.make_iq_set(ito=room)
        query = ElementTree.SubElement(iq.xml, "{%s#owner}query" % MUC)
        form = ElementTree.SubElement(query, "{jabber:x:data}x", type="submit")
        fields = dict(field.split("=", 1) for field in peer.options.field)
        if fields:
            fields["FORM_TYPE"] = "%s#roomconfig" % MUC
        for name, value in fields.items():
            field = ElementTree.SubElement(form, "{jabber:x:data}field", var=name)
            ElementTree.SubElement(field, "{jabber:x:data}value").text = value
        await iq.send(timeout=HUNG)


async def chat(peer):
    """Sends "LABEL 1", "LABEL 2", ... until "stop" (or the end of input), stays to receive until "quit". After "burst N"
    the next N messages are sent as fast as the server takes them; "raw XML" sends the stanza XML."""
    options = peer.options
    stop = asyncio.Event()
    quit_ = asyncio.Event()

    operating = Operating(peer)

    def received(message):
        origin = message.xml.find("{%s}origin-id" % SID)
        done = operation_in(message) if options.operations else None
        if done:
            return say("operated", sender=str(message["from"]), id=message["id"], kind=done[0], target=done[1], body=done[2])
        if message["body"]:
            operating.others.append(message["id"])
        stamped = message.xml.find("{%s}stanza-id" % SID)
        say("received", sender=str(message["from"]), type=message["type"], id=message["id"], body=message["body"],
            origin_id=origin.get("id") if origin is not None else None,
            archived=stamped.get("id") if stamped is not None else None)

    async def commands():
        reader, transport = await lines_of_standard_input()
        while True:
            line = (await reader.readline()).decode().strip()
            if line == "stop":
                stop.set()
            elif line.startswith("burst "):
                peer.burst += int(line.split()[1])
            elif line.startswith("raw "):
                peer.send_raw(line[4:])
            elif line in ("", "quit"):
                peer.leaving.set()
                stop.set()
                quit_.set()
                transport.close()
                return

    if options.operations:
        # The event "message" is only for messages with a text.
        peer.register_handler(slixmpp.xmlstream.handler.Callback(
            "operations", slixmpp.xmlstream.matcher.MatchXPath("{%s}message" % CLIENT), received))
    else:
        peer.add_event_handler("message", received)
    peer.use_origin_id = options.origin_ids
    if options.receipts:
        peer.register_plugin("xep_0184", {"auto_request": True})
        peer.add_event_handler(
            "receipt_received",
            lambda message: say("receipt", sender=str(message["from"]), id=message["receipt"], stanza=message["id"]))
    if options.markers:
        peer.register_plugin("xep_0333")
        peer.add_event_handler(
            "marker_displayed",
            lambda message: say("marker", sender=str(message["from"]), id=message["displayed"]["id"], stanza=message["id"]))
    if options.markers:
        # After the filter that asks for receipts.
        peer.add_filter("out", note_given)
    random.seed(options.seed)
    peer.send_presence()
    if options.nick:
        await enter(peer, options.to, options.nick)
    await peer.barrier()
    listening = asyncio.ensure_future(commands())
    say("ready")
    began = time.monotonic()
    window = 10 if options.rate == 0 else max(1, int(options.rate / 4))
    while not stop.is_set() and (options.count is None or peer.sent < options.count):
        await peer.online.wait()
        peer.sent += 1
        number = options.first + peer.sent - 1
        message = peer.make_message(mto=options.to, mbody="%s %d" % (options.label, number),
                                    mtype="groupchat" if options.nick else "chat")
        if options.markers:
            message.enable("markable")
        message.send()
        say("sent", number=number, id=message["id"])
        if options.operations:
            operating.mine.append(message["id"])
            operating.operate()
        if peer.burst > 0:
            peer.burst -= 1
            began -= 1 / options.rate if options.rate > 0 else 0
        elif options.rate > 0:
            pause = began + peer.sent / options.rate - time.monotonic()
            if pause > 0:
                await asyncio.sleep(pause)
        if peer.sent % window == 0:
            await peer.barrier()
    await peer.barrier()
    say("stopped", sent=peer.sent)
    await quit_.wait()
    await listening


def archived(result):
    """A message of the server's archive."""
    forwarded = result.find("{%s}forwarded" % FORWARD)
    delay = forwarded.find("{%s}delay" % DELAY)
    message = forwarded.find("{%s}message" % CLIENT)
    origin = message.find("{%s}origin-id" % SID)
    body = message.find("{%s}body" % CLIENT)
    return {
        "archive_id": result.get("id"),
        "sender": message.get("from"),
        "recipient": message.get("to"),
        "type": message.get("type"),
        "id": message.get("id"),
        "origin_id": origin.get("id") if origin is not None else None,
        "body": body.text if body is not None else None,
        "stamp": delay.get("stamp") if delay is not None else None,
        "encrypted": [part for namespace in OMEMO for part in encrypted(message, namespace)],
        "parts": [child.tag for child in message],
    }


def encrypted(message, namespace):
    """The device that has encrypted a part of a message (XEP-0384), and the keys for other devices."""
    for header in message.findall("{%s}encrypted/{%s}header" % (namespace, namespace)):
        keys = [{"device": int(key.get("rid")), "key": key.text,
                 "exchange": (key.get("prekey") or key.get("kex")) in ("1", "true")}
                for key in header.iter("{%s}key" % namespace)]
        yield {"namespace": namespace, "device": int(header.get("sid")), "keys": keys}


async def archive(peer):
    """Pages the archive, or that of --room, from its beginning (XEP-0313 with XEP-0059) until the server says that it is complete."""
    page = []
    room = peer.options.room

    def collect(message):
        result = message.xml.find("{%s}result" % MAM)
        if result is not None and message["from"].bare in ((room,) if room else ("", peer.boundjid.bare)):
            page.append(result)

    peer.register_handler(slixmpp.xmlstream.handler.Callback(
        "archive", slixmpp.xmlstream.matcher.MatchXPath("{%s}message/{%s}result" % (CLIENT, MAM)), collect))
    after = None
    total = 0
    while True:
        page.clear()
        request = peer.make_iq_set(ito=room)
        query = ElementTree.SubElement(request.xml, "{%s}query" % MAM, queryid="archive")
        paging = ElementTree.SubElement(query, "{%s}set" % RSM)
        ElementTree.SubElement(paging, "{%s}max" % RSM).text = str(peer.options.page)
        if after is not None:
            ElementTree.SubElement(paging, "{%s}after" % RSM).text = after
        answer = await request.send(timeout=HUNG)
        for result in page:
            say("archived", **archived(result))
        total += len(page)
        fin = answer.xml.find("{%s}fin" % MAM)
        last = fin.find("{%s}set/{%s}last" % (RSM, RSM)) if fin is not None else None
        if fin is None or fin.get("complete") == "true" or last is None:
            break
        after = last.text
    say("complete", total=total)


async def answer(peer):
    """Answers questions until "quit" (or the end of input), each after a random time between the two --delay seconds; with --held not
    before "answer"."""
    pending = set()
    told = asyncio.Event()
    if not peer.options.held:
        told.set()

    async def reply(iq):
        await asyncio.sleep(random.uniform(*peer.options.delay))
        await told.wait()
        number = iq.xml.find("{%s}question" % QUESTION).get("number")
        result = iq.reply()
        result.append(ElementTree.Element("{%s}question" % QUESTION, number=number))
        result.send()
        say("answered", number=int(number), id=iq["id"], sender=str(iq["from"]))

    def asked(iq):
        if iq["type"] not in ("get", "set"):
            return
        number = iq.xml.find("{%s}question" % QUESTION).get("number")
        say("asked", number=int(number), id=iq["id"], sender=str(iq["from"]))
        task = asyncio.ensure_future(reply(iq))
        pending.add(task)
        task.add_done_callback(pending.discard)

    peer.register_handler(slixmpp.xmlstream.handler.Callback(
        "question", slixmpp.xmlstream.matcher.MatchXPath("{%s}iq/{%s}question" % (CLIENT, QUESTION)), asked))
    if peer.options.caps:
        await peer.plugin["xep_0115"].update_caps()
    peer.send_presence()
    await peer.barrier()
    say("ready")
    reader, transport = await lines_of_standard_input()
    while (line := (await reader.readline()).decode().strip()) not in ("", "quit"):
        if line == "answer":
            told.set()
    transport.close()
    await peer.barrier()


async def raw(peer):
    peer.send_raw(sys.stdin.buffer.read().decode())
    await peer.barrier()
    say("sent")


async def push(peer):
    """Enables push for --node through --service with --module, and logs out, so that messages are pushed."""
    options = peer.options
    enable = ElementTree.Element("{urn:xmpp:push:0}enable", {"jid": options.service, "node": options.node})
    form = ElementTree.SubElement(enable, "{jabber:x:data}x", {"type": "submit"})
    fields = {"FORM_TYPE": "http://jabber.org/protocol/pubsub#publish-options"}
    if options.module:
        fields["pushModule"] = options.module
    for name, value in fields.items():
        field = ElementTree.SubElement(form, "{jabber:x:data}field", {"var": name})
        ElementTree.SubElement(field, "{jabber:x:data}value").text = value
    iq = peer.make_iq_set()
    iq.append(enable)
    peer.send_presence()
    await iq.send(timeout=HUNG)
    say("enabled")


async def slot(peer):
    """Asks --service for a slot for the file --name of --size bytes, and for the size that the service takes."""
    options = peer.options
    question = peer.make_iq_get(ito=options.service)
    question.append(ElementTree.Element("{%s}query" % DISCO))
    told = await question.send(timeout=HUNG)
    limits = [field.findtext("{jabber:x:data}value") for field in told.xml.iter("{jabber:x:data}field")
              if field.get("var") == "max-file-size"]
    request = peer.make_iq_get(ito=options.service)
    request.append(ElementTree.Element("{%s}request" % UPLOAD, {"filename": options.name, "size": str(options.size)}))
    try:
        answer = await request.send(timeout=HUNG)
    except slixmpp.exceptions.IqError as error:
        named = error.iq.xml.find(".//{%s}file-too-large/{%s}max-file-size" % (UPLOAD, UPLOAD))
        say("refused", condition=error.condition, limit=named.text if named is not None else None, announced=limits)
        return
    put = answer.xml.find("{%s}slot/{%s}put" % (UPLOAD, UPLOAD))
    get = answer.xml.find("{%s}slot/{%s}get" % (UPLOAD, UPLOAD))
    headers = [[header.get("name"), header.text] for header in put]
    say("slot", put=put.get("url"), get=get.get("url"), headers=headers, announced=limits)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("chat", "archive", "raw", "answer", "push", "slot"):
        command = commands.add_parser(name)
        command.add_argument("--jid", required=True)
        command.add_argument("--host", default="127.0.0.1")
        command.add_argument("--port", type=int, required=True)
        command.add_argument("--ca", required=True)
        if name == "chat":
            command.add_argument("--to", required=True)
            command.add_argument("--nick")
            command.add_argument("--field", action="append", default=[])
            command.add_argument("--label", default="m")
            command.add_argument("--rate", type=float, default=0.0)
            command.add_argument("--count", type=int)
            command.add_argument("--first", type=int, default=1)
            command.add_argument("--reconnect", action="store_true")
            command.add_argument("--origin-ids", action="store_true")
            command.add_argument("--receipts", action="store_true")
            command.add_argument("--operations", action="store_true")
            command.add_argument("--markers", action="store_true")
            command.add_argument("--seed", type=int)
        if name == "push":
            command.add_argument("--service", required=True)
            command.add_argument("--node", required=True)
            command.add_argument("--module")
        if name == "slot":
            command.add_argument("--service", required=True)
            command.add_argument("--name", required=True)
            command.add_argument("--size", type=int, required=True)
        if name == "archive":
            command.add_argument("--page", type=int, default=100)
            command.add_argument("--room")
        if name == "answer":
            command.add_argument("--delay", type=float, nargs=2, default=[0.0, 5.0])
            command.add_argument("--caps", action="store_true")
            command.add_argument("--held", action="store_true")
    options = parser.parse_args()
    work = {"chat": chat, "archive": archive, "raw": raw, "answer": answer, "push": push, "slot": slot}[options.command]
    peer = Peer(options, work)
    peer.connect((options.host, options.port))
    peer.loop.run_until_complete(peer.finished)
    sys.exit(peer.status)


main()
