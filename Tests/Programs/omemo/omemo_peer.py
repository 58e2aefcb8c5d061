#!/usr/bin/python3
"""An OMEMO client for tests, told what to do by lines of JSON. None of Kalij's code is in it.

omemo_peer.py FOLDER JID PORT [--ca FILE] [--ns 0.3|2|both] [--host ADDRESS] [--stanzas]

Needs Debian's python3-slixmpp, python3-omemo, python3-oldmemo, python3-twomemo and python3-xmlschema. python3-oldmemo
is under the AGPL: it is only imported here, in this process. The password comes from PEER_PASSWORD. Trust is blind.

FOLDER holds peer.sqlite: keys, ratchets, what is still to be sent, what has been reported. Each step is one
transaction: it is on the disk before a stanza leaves and before anything is reported. The process may be killed at
any time.

Commands, one JSON object a line on standard input:
  {"do":"send","to":JID,"body":TEXT,"id":ID}     ID decides: a second command with the same one is not sent again
  {"do":"send","room":JID,"body":TEXT,"id":ID}
  {"do":"plain","to":JID,"body":TEXT,"id":ID}    not encrypted
  {"do":"join","room":JID,"nick":N}              a new room becomes members-only, non-anonymous; joined again by itself
  {"do":"member","room":JID,"jid":JID}           makes someone a member
  {"do":"subscribe","to":JID}                    asks for presence; what others ask for is granted
  {"do":"devices","of":JID}
  {"do":"empty","to":JID}                        an empty message to each device
  {"do":"replace","of":JID,"device":N}           a new session with an empty key exchange
  {"do":"quit"}                                  so does the end of input

Reports, one JSON object a line on standard output: online, offline, accepted, sent (the server has it), message, empty,
undecryptable, repeated (a second ciphertext under a known id), devices, joined, error, failed. Most have "seq". What
may not have been read before a kill comes again with the same seq and "again":true. Whoever counts takes each seq once.

Exit status: 0 done, 64 usage, 69 no connection, 77 authentication refused.
"""
import argparse
import asyncio
import base64
import datetime
import functools
import hashlib
import inspect
import json
import logging
import os
import sqlite3
import sys
import time
import uuid
from xml.etree import ElementTree as ET

import oldmemo
import oldmemo.etree
import omemo
import omemo.session
import slixmpp
import twomemo
import twomemo.etree
from omemo.storage import Just, Nothing, Storage
from slixmpp.exceptions import IqError, IqTimeout

OLD = "eu.siacs.conversations.axolotl"
NEW = "urn:xmpp:omemo:2"
CLIENT = "jabber:client"
PUBSUB = "http://jabber.org/protocol/pubsub"
EVENT = PUBSUB + "#event"
OWNER = PUBSUB + "#owner"
MUC = "http://jabber.org/protocol/muc"
MAM = "urn:xmpp:mam:2"
RSM = "http://jabber.org/protocol/rsm"
SID = "urn:xmpp:sid:0"
HINTS = "urn:xmpp:hints"
CARBONS = "urn:xmpp:carbons:2"
FORWARD = "urn:xmpp:forward:0"
DATA = "jabber:x:data"
SCE = "urn:xmpp:sce:1"
STANZAS = "urn:ietf:params:xml:ns:xmpp-stanzas"
FALLBACK = "I sent you an OMEMO encrypted message but your client doesn't seem to support that."
ANSWER = 60  # seconds to wait for an answer
OVERLAP = 30  # seconds of the archive that are read again

LISTS = {OLD: OLD + ".devicelist", NEW: NEW + ":devices"}


def bundle_place(namespace, device):
    """The node and the item of a device's bundle."""
    return (OLD + ".bundles:%d" % device, "current") if namespace == OLD else (NEW + ":bundles", str(device))


def codec(namespace):
    return oldmemo.etree if namespace == OLD else twomemo.etree


class Lost(Exception):
    """The connection has ended, or an answer did not come. The step is taken back and done again later."""


class Refused(Exception):
    """The server's answer was an error."""

    def __init__(self, condition, application=""):
        super().__init__(condition, application)
        self.condition = condition
        self.application = application


class Database:
    """One connection, one transaction a step."""

    def __init__(self, path):
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self.link = sqlite3.connect(path, isolation_level=None)
        self.link.execute("PRAGMA journal_mode=WAL")
        self.link.execute("PRAGMA synchronous=FULL")
        self.link.executescript("""
            CREATE TABLE IF NOT EXISTS omemo (key TEXT PRIMARY KEY, value TEXT NOT NULL);
            CREATE TABLE IF NOT EXISTS note (key TEXT PRIMARY KEY, value TEXT NOT NULL);
            CREATE TABLE IF NOT EXISTS seen (key TEXT PRIMARY KEY, digest TEXT);
            CREATE TABLE IF NOT EXISTS wanted (number INTEGER PRIMARY KEY AUTOINCREMENT, command TEXT NOT NULL);
            CREATE TABLE IF NOT EXISTS known (id TEXT PRIMARY KEY, sent INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE IF NOT EXISTS outbox (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
                xml TEXT NOT NULL, report TEXT NOT NULL, made REAL NOT NULL);
            CREATE TABLE IF NOT EXISTS room (jid TEXT PRIMARY KEY, nick TEXT NOT NULL, since REAL NOT NULL);
            CREATE TABLE IF NOT EXISTS report (seq INTEGER PRIMARY KEY AUTOINCREMENT, report TEXT NOT NULL,
                printed INTEGER NOT NULL DEFAULT 0);
        """)

    def run(self, statement, *values):
        return self.link.execute(statement, values)

    def one(self, statement, *values):
        row = self.link.execute(statement, values).fetchone()
        return None if row is None else row[0]


class Keys(Storage):
    """python-omemo's data, within the step's transaction. No cache, because a step may be taken back."""

    def __init__(self, database):
        super().__init__(disable_cache=True)
        self.database = database

    async def _load(self, key):
        value = self.database.one("SELECT value FROM omemo WHERE key=?", key)
        return Nothing() if value is None else Just(json.loads(value))

    async def _store(self, key, value):
        self.database.run("INSERT OR REPLACE INTO omemo VALUES (?, ?)", key, json.dumps(value))

    async def _delete(self, key):
        self.database.run("DELETE FROM omemo WHERE key=?", key)


class Link(slixmpp.ClientXMPP):
    """One connection. A new connection gets a new one; streams are not resumed, the archive is read instead."""

    def __init__(self, peer):
        options = peer.options
        super().__init__("%s/%s" % (peer.jid, peer.resource), os.environ.get("PEER_PASSWORD", ""))
        self.peer = peer
        self.lost = self.loop.create_future()
        self.refused = False
        self.ca_certs = options.ca
        for plugin in ("xep_0030", "xep_0060", "xep_0115", "xep_0163", "xep_0199"):
            self.register_plugin(plugin)
        self.register_plugin("xep_0198", {"window": 1 << 30, "allow_resume": False})
        self.add_event_handler("session_start", lambda _: peer.queue.put_nowait((self, "online", None)))
        self.add_event_handler("stanza_acked", self.acknowledged)
        self.add_event_handler("disconnected", self.ended)
        self.add_event_handler("connection_failed", self.ended)
        self.add_event_handler("ssl_invalid_chain", self.ended)
        self.add_event_handler("failed_all_auth", self.not_allowed)
        for name in ("message", "presence"):
            self.register_handler(slixmpp.xmlstream.handler.Callback(
                "peer " + name, slixmpp.xmlstream.matcher.MatchXPath("{%s}%s" % (CLIENT, name)),
                functools.partial(self.received, name)))

    def ended(self, why):
        if not self.lost.done():
            self.lost.set_result(str(why))

    def not_allowed(self, _):
        self.refused = True
        self.ended("authentication refused")

    def acknowledged(self, stanza):
        if isinstance(stanza, slixmpp.Message):
            self.peer.queue.put_nowait((self, "acknowledged", stanza["id"]))

    def received(self, name, stanza):
        if self.peer.options.stanzas and name == "message":
            self.peer.log_stanza("in", stanza.xml)
        result = stanza.xml.find("{%s}result" % MAM)
        if result is not None:
            self.peer.pages.setdefault(result.get("queryid"), []).append((str(stanza["from"].bare), result))
        elif name == "presence":
            self.peer.presence(stanza)
        else:
            self.peer.queue.put_nowait((self, "message", (stanza.xml, time.time())))

    async def ask(self, kind, content, to=None):
        """Sends a request, gives the answer's element."""
        iq = self.make_iq_get(ito=to) if kind == "get" else self.make_iq_set(ito=to)
        iq.append(content)
        answer = asyncio.ensure_future(iq.send(timeout=ANSWER))
        await asyncio.wait({answer, self.lost}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            answer.cancel()
            raise Lost("the connection ended while an answer of %s was waited for" % (to or "the server"))
        try:
            return answer.result().xml
        except IqError as error:
            more = [child.tag for child in error.iq.xml.findall("{%s}error/*" % CLIENT) if STANZAS not in child.tag]
            raise Refused(error.condition, " ".join(more)) from error
        except IqTimeout as error:
            raise Lost("no answer from %s to a %s of %s" % (to or "the server", kind, content.tag)) from error


def form(kind, fields):
    element = ET.Element("{%s}x" % DATA, type="submit")
    for name, value in {"FORM_TYPE": kind, **fields}.items():
        field = ET.SubElement(element, "{%s}field" % DATA, var=name)
        ET.SubElement(field, "{%s}value" % DATA).text = value
    return element


def manager_class(peer):
    """python-omemo's session manager with the peer's connection in it."""

    class Manager(omemo.SessionManager):
        @staticmethod
        async def _upload_bundle(bundle):
            # Its private keys have to be on the disk first. Within a step it is published after the step.
            namespace, device = bundle.namespace, bundle.device_id
            if peer.in_message:
                peer.unpublished.add(namespace)
                return
            peer.commit()
            peer.begin()
            try:
                await peer.publish(*bundle_place(namespace, device), codec(namespace).serialize_bundle(bundle))
            except Refused as error:
                raise omemo.BundleUploadFailed(str(error)) from error

        @staticmethod
        async def _download_bundle(namespace, bare_jid, device_id):
            try:
                item = await peer.fetch(bare_jid, *bundle_place(namespace, device_id))
            except Refused as error:
                raise omemo.BundleDownloadFailed(str(error)) from error
            if item is None:
                raise omemo.BundleNotFound("no bundle of %s %d" % (bare_jid, device_id))
            try:
                return codec(namespace).parse_bundle(item, bare_jid, device_id)
            except Exception as error:  # xmlschema's errors have no common base that is documented
                raise omemo.BundleDownloadFailed("bad bundle: %s" % type(error).__name__) from error

        @staticmethod
        async def _delete_bundle(namespace, device_id):
            node, item = bundle_place(namespace, device_id)
            pubsub = ET.Element("{%s}pubsub" % PUBSUB)
            retract = ET.SubElement(pubsub, "{%s}retract" % PUBSUB, node=node)
            ET.SubElement(retract, "{%s}item" % PUBSUB, id=item)
            try:
                await peer.link.ask("set", pubsub)
            except Refused as error:
                if error.condition != "item-not-found":
                    raise omemo.BundleDeletionFailed(str(error)) from error

        @staticmethod
        async def _upload_device_list(namespace, device_list):
            try:
                await peer.publish(LISTS[namespace], "current", codec(namespace).serialize_device_list(device_list))
            except Refused as error:
                raise omemo.DeviceListUploadFailed(str(error)) from error

        @staticmethod
        async def _download_device_list(namespace, bare_jid):
            try:
                item = await peer.fetch(bare_jid, LISTS[namespace], None)
            except Refused as error:
                raise omemo.DeviceListDownloadFailed(str(error)) from error
            if item is None or not len(item):
                return {}  # oldmemo's schema refuses an empty list, which profanity publishes
            try:
                return codec(namespace).parse_device_list(item)
            except Exception as error:  # as above
                raise omemo.DeviceListDownloadFailed("bad list: %s" % type(error).__name__) from error

        async def _evaluate_custom_trust_level(self, device):
            return omemo.TrustLevel.DISTRUSTED if device.trust_level_name == "distrusted" else omemo.TrustLevel.TRUSTED

        async def _make_trust_decision(self, undecided, identifier):
            raise omemo.TrustDecisionFailed("trust is blind: there is nothing to decide")

        @staticmethod
        async def _send_message(message, bare_jid):
            # python-omemo stores the session after this. So it only goes to the outbox, which leaves after the step.
            peer.put_out(str(uuid.uuid4()), [message], bare_jid, "chat", False, {"event": "empty-sent", "to": bare_jid})

    return Manager


def text_of(element, path):
    found = element.find(path)
    return None if found is None else found.text


def bare(jid):
    return (jid or "").split("/", 1)[0]


class Peer:
    def __init__(self, options):
        self.options = options
        self.jid = slixmpp.JID(options.jid).bare
        self.database = Database(os.path.join(options.folder, "peer.sqlite"))
        # Its own, and always the same: a new connection ends the one before it.
        self.resource = self.noted("resource", "peer-" + uuid.uuid4().hex[:8])
        self.note("resource", self.resource)
        self.namespaces = {"0.3": [OLD], "2": [NEW], "both": [NEW, OLD]}[options.ns]
        self.queue = asyncio.Queue()
        self.link = None
        self.manager = None
        self.backends = []
        self.device = None
        self.online = False
        self.in_message = False
        self.unpublished = set()
        self.current_lists = set()  # (namespace, JID): fetched over this connection, kept by events
        self.pages = {}
        self.occupants = {}  # room -> nickname -> bare JID
        self.entering = {}
        self.audience = {}
        self.quitting = asyncio.Event()
        self.stanza_log = None

    # -- steps --

    def begin(self):
        self.database.run("BEGIN IMMEDIATE")

    def commit(self):
        self.database.run("COMMIT")

    async def step(self, work, *values):
        """Does the work in one transaction, then lets out what it made. Nothing of it stays if it fails."""
        self.begin()
        try:
            await work(*values)
        except BaseException:
            self.database.run("ROLLBACK")
            self.unpublished.clear()
            raise
        self.commit()
        self.print_reports()
        self.flush()
        while self.unpublished and self.link is not None:
            namespace = self.unpublished.pop()
            backend = next(one for one in self.backends if one.namespace == namespace)
            bundle = await backend.get_bundle(self.jid, self.device)
            await self.publish(*bundle_place(namespace, self.device), codec(namespace).serialize_bundle(bundle))

    def report(self, event, **fields):
        text = json.dumps({"event": event, **fields}, ensure_ascii=False)
        self.database.run("INSERT INTO report (report) VALUES (?)", text)

    def print_reports(self, again=False):
        rows = self.database.run("SELECT seq, report FROM report WHERE NOT printed ORDER BY seq").fetchall()
        for seq, text in rows:
            say({**json.loads(text), "seq": seq, **({"again": True} if again else {})})
        if rows:
            self.database.run("UPDATE report SET printed=1 WHERE seq<=? AND NOT printed", rows[-1][0])

    def note(self, key, value):
        self.database.run("INSERT OR REPLACE INTO note VALUES (?, ?)", key, json.dumps(value))

    def noted(self, key, default):
        value = self.database.one("SELECT value FROM note WHERE key=?", key)
        return default if value is None else json.loads(value)

    def log_stanza(self, direction, xml):
        if self.stanza_log is None:
            self.stanza_log = open(os.path.join(self.options.folder, "stanzas"), "a", encoding="utf-8", buffering=1)
        self.stanza_log.write("%.3f %s %s\n" % (time.time(), direction, ET.tostring(xml, encoding="unicode")))

    # -- the server --

    async def publish(self, node, item, payload):
        """Publishes openly. A node that is configured otherwise is configured, and the item published again."""
        options = {"pubsub#persist_items": "true", "pubsub#access_model": "open"}
        if node == NEW + ":bundles":
            options["pubsub#max_items"] = "max"
        for attempt in range(3):
            pubsub = ET.Element("{%s}pubsub" % PUBSUB)
            publish = ET.SubElement(pubsub, "{%s}publish" % PUBSUB, node=node)
            ET.SubElement(publish, "{%s}item" % PUBSUB, id=item).append(payload)
            if attempt < 2:
                ET.SubElement(pubsub, "{%s}publish-options" % PUBSUB).append(form(PUBSUB + "#publish-options", options))
            try:
                await self.link.ask("set", pubsub)
                if attempt < 2:
                    return
                await self.configure(node, options)
                return
            except Refused as error:
                if attempt == 2:
                    raise
                if "precondition-not-met" in error.application:
                    await self.configure(node, options)
                elif attempt == 0 and "pubsub#max_items" in options:
                    options["pubsub#max_items"] = "1000"  # ejabberd 23.01 does not know "max"

    async def configure(self, node, options):
        pubsub = ET.Element("{%s}pubsub" % OWNER)
        ET.SubElement(pubsub, "{%s}configure" % OWNER, node=node).append(form(PUBSUB + "#node_config", options))
        await self.link.ask("set", pubsub)

    async def fetch(self, jid, node, item):
        """The payload of an item, or of the newest one; None if there is none to be had."""
        pubsub = ET.Element("{%s}pubsub" % PUBSUB)
        items = ET.SubElement(pubsub, "{%s}items" % PUBSUB, node=node)
        if item is None:
            items.set("max_items", "1")
        elif item != "current":  # some clients name the bundle's item otherwise
            ET.SubElement(items, "{%s}item" % PUBSUB, id=item)
        try:
            answer = await self.link.ask("get", pubsub, jid)
        except Refused as error:
            if error.condition in ("item-not-found", "forbidden", "presence-subscription-required", "not-authorized"):
                return None
            raise
        found = answer.findall("{%s}pubsub/{%s}items/{%s}item" % (PUBSUB, PUBSUB, PUBSUB))
        return found[-1][0] if found and len(found[-1]) else None

    async def refresh(self, jid, again=False):
        """Makes sure that the address's device lists are those of now."""
        for namespace in self.namespaces:
            if not again and (namespace, jid) in self.current_lists:
                continue
            pubsub = ET.Element("{%s}pubsub" % PUBSUB)
            ET.SubElement(pubsub, "{%s}subscribe" % PUBSUB, node=LISTS[namespace], jid=self.link.boundjid.full)
            subscribed = jid == self.jid
            if not subscribed:
                try:
                    await self.link.ask("set", pubsub, jid)
                    subscribed = True
                except Refused:
                    pass  # no node yet, or not for us: fetched each time
            await self.manager.refresh_device_list(namespace, jid)
            if subscribed:
                self.current_lists.add((namespace, jid))

    # -- the engine --

    async def run(self):
        asyncio.ensure_future(self.read_commands())
        worker = asyncio.ensure_future(self.work())
        self.print_reports(again=True)
        failures = 0
        while not self.quitting.is_set():
            self.link = Link(self)
            self.link.connect((self.options.host, self.options.port))
            quitting = asyncio.ensure_future(self.quitting.wait())
            await asyncio.wait({self.link.lost, quitting, worker}, return_when=asyncio.FIRST_COMPLETED)
            quitting.cancel()
            if worker.done():
                worker.result()
            if self.quitting.is_set():
                break
            failures = 0 if self.online else failures + 1
            if self.online:
                say({"event": "offline", "reason": self.link.lost.result()})
            self.online = False
            self.link.abort()
            self.link.cancel_connection_attempt()
            if self.link.refused or failures >= 20:
                say({"event": "failed", "reason": self.link.lost.result()})
                return 77 if self.link.refused else 69
            await asyncio.sleep(min(5, 0.2 * 2 ** failures))
        try:
            await asyncio.wait_for(self.link.disconnect(wait=3), 5)
        except asyncio.TimeoutError:
            self.link.abort()
        return 0

    async def read_commands(self):
        reader = asyncio.StreamReader(limit=1 << 24)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while True:
            line = await reader.readline()
            command = {"do": "quit"}
            if line:
                if not line.strip():
                    continue
                try:
                    command = json.loads(line)
                except ValueError as error:
                    say({"event": "failed", "reason": "not JSON: %s" % error})
                    continue
            self.queue.put_nowait((None, "command", command))
            if command.get("do") == "quit":
                return

    async def work(self):
        """One thing after the other. What belongs to an ended connection is dropped: the archive has it."""
        while True:
            link, kind, value = await self.queue.get()
            if link is not None and (link is not self.link or link.lost.done()):
                continue
            try:
                await getattr(self, "do_" + kind)(value)
            except (Lost, slixmpp.xmlstream.xmlstream.NotConnectedError) as why:
                self.link.ended(why)

    async def do_command(self, command):
        if command.get("do") == "quit":
            # What was commanded before is done first, if that is possible.
            if self.online and self.database.one("SELECT count(*) FROM wanted"):
                self.queue.put_nowait((None, "command", command))
                await asyncio.sleep(0.05)
            else:
                self.quitting.set()
            return

        async def accept():
            identifier = command.get("id") if command.get("do") in ("send", "plain") else None
            if identifier is not None:
                sent = self.database.one("SELECT sent FROM known WHERE id=?", identifier)
                if sent is not None:
                    self.report("sent" if sent else "accepted", id=identifier)
                    return
                self.database.run("INSERT INTO known (id) VALUES (?)", identifier)
                self.report("accepted", id=identifier)
            self.database.run("INSERT INTO wanted (command) VALUES (?)", json.dumps(command))

        await self.step(accept)
        if self.online:
            await self.do_wanted()

    async def do_wanted(self, _=None):
        rows = self.database.run("SELECT number, command FROM wanted ORDER BY number").fetchall()
        for number, command in rows:
            async def one():
                self.database.run("DELETE FROM wanted WHERE number=?", number)
                await self.obey(json.loads(command))
            await self.step(one)

    async def obey(self, command):
        work = getattr(self, "obey_" + str(command.get("do")), None)
        try:
            if work is None:
                raise ValueError("no such command")
            await work(command)
        except (Refused, omemo.OMEMOException, ValueError, KeyError, StopIteration) as error:
            self.report("failed", id=command.get("id"), do=command.get("do"),
                        reason="%s: %s" % (type(error).__name__, error))

    def envelope(self, body, recipient, room):
        """The plaintext of either version."""
        envelope = ET.Element("{%s}envelope" % SCE)
        content = ET.SubElement(envelope, "{%s}content" % SCE)
        ET.SubElement(content, "{%s}body" % CLIENT).text = body
        ET.SubElement(envelope, "{%s}rpad" % SCE).text = base64.b64encode(os.urandom(12)).decode()
        ET.SubElement(envelope, "{%s}from" % SCE, jid=self.jid)
        if room:
            ET.SubElement(envelope, "{%s}to" % SCE, jid=recipient)
        return {OLD: body.encode(), NEW: ET.tostring(envelope)}

    async def obey_send(self, command):
        identifier = command.get("id") or str(uuid.uuid4())
        room = command.get("room")
        target = room or slixmpp.JID(command["to"]).bare
        recipients = await self.readers(room) if room else {target}
        for jid in recipients | {self.jid}:
            try:
                await self.refresh(jid)
            except omemo.DeviceListDownloadFailed:
                if not room:
                    raise
        plaintext = {namespace: text for namespace, text in self.envelope(command["body"], target, room).items()
                     if namespace in self.namespaces}
        if room:
            # One who has no OMEMO is left out; python-omemo would refuse.
            able = set()
            for jid in recipients:
                if any(active for device in await self.manager.get_device_information(jid)
                       for namespace, active in device.active if namespace in self.namespaces):
                    able.add(jid)
            left_out = sorted(recipients - able - {self.jid})
            if left_out:
                self.report("left-out", id=identifier, jids=left_out)
            recipients = able
        messages, errors = await self.manager.encrypt(frozenset(recipients - {self.jid}), plaintext)
        for error in errors:
            self.report("left-out", id=identifier, jids=[error.bare_jid], device=error.device_id,
                        reason=type(error.exception).__name__)
        if not messages:
            raise ValueError("no device to encrypt for")
        self.put_out(identifier, messages, target, "groupchat" if room else "chat", True,
                     {"event": "sent", "id": identifier, "body": command["body"]})

    async def obey_plain(self, command):
        message = ET.Element("{%s}message" % CLIENT, {"to": command["to"], "type": "chat", "id": command["id"]})
        ET.SubElement(message, "{%s}body" % CLIENT).text = command["body"]
        self.keep_out(command["id"], message, {"event": "sent", "id": command["id"]})

    async def obey_empty(self, command):
        target = slixmpp.JID(command["to"]).bare
        await self.refresh(target)
        count = 0
        for device in await self.manager.get_device_information(target):
            for backend in self.backends:
                if dict(device.active).get(backend.namespace) is not True or device.device_id == self.device:
                    continue
                content, material = await backend.encrypt_empty()
                session = await backend.load_session(target, device.device_id)
                if session is None:
                    bundle = await self.manager._download_bundle(backend.namespace, target, device.device_id)
                    session, encrypted = await backend.build_session_active(target, device.device_id, bundle, material)
                else:
                    encrypted = await backend.encrypt_key_material(session, material)
                exchange = session.key_exchange if (
                    session.initiation is omemo.session.Initiation.ACTIVE and not session.confirmed) else None
                await backend.store_session(session)
                message = omemo.Message(
                    backend.namespace, self.jid, self.device, content, frozenset({(encrypted, exchange)}))
                await self.manager._send_message(message, target)
                count += 1
        if not count:
            raise ValueError("no device to send to")

    async def obey_replace(self, command):
        target = slixmpp.JID(command["of"]).bare
        for device in await self.manager.get_device_information(target):
            if device.device_id == command["device"]:
                for namespace, error in (await self.manager.replace_sessions(device)).items():
                    self.report("failed", do="replace", reason="%s: %s" % (namespace, error))

    async def obey_devices(self, command):
        target = slixmpp.JID(command["of"]).bare
        await self.refresh(target, again=True)
        devices = [
            {"device": one.device_id, "fingerprint": fingerprint(one.identity_key),
             "namespaces": sorted(one.namespaces),
             "active": any(active for _, active in one.active)}
            for one in await self.manager.get_device_information(target)]
        self.report("devices", of=target, devices=sorted(devices, key=lambda one: one["device"]))

    async def obey_subscribe(self, command):
        self.link.send_presence(pto=command["to"], ptype="subscribe")

    # -- rooms --

    def presence(self, stanza):
        room = stanza["from"].bare
        x = stanza.xml.find("{%s#user}x" % MUC)
        if stanza["type"] == "error" and room in self.entering:
            entered = self.entering[room]
            if not entered.done():
                entered.set_exception(Refused(stanza["error"]["condition"]))
            return
        if x is None:
            return
        codes = {status.get("code") for status in x.findall("{%s#user}status" % MUC)}
        item = x.find("{%s#user}item" % MUC)
        nick = stanza["from"].resource
        self.audience.pop(room, None)
        if stanza["type"] == "unavailable":
            self.occupants.get(room, {}).pop(nick, None)
        elif item is not None and item.get("jid"):
            self.occupants.setdefault(room, {})[nick] = bare(item.get("jid"))
        entered = self.entering.get(room)
        if "110" in codes and entered is not None and not entered.done() and stanza["type"] != "unavailable":
            entered.set_result("201" in codes)

    async def enter(self, room, nick):
        """Enters a room. A new one becomes members-only and non-anonymous, and keeps its messages."""
        entered = self.entering[room] = asyncio.get_running_loop().create_future()
        joining = self.link.make_presence(pto="%s/%s" % (room, nick))
        ET.SubElement(ET.SubElement(joining.xml, "{%s}x" % MUC), "{%s}history" % MUC, maxstanzas="0")
        joining.send()
        await asyncio.wait({entered, self.link.lost}, timeout=ANSWER, return_when=asyncio.FIRST_COMPLETED)
        if not entered.done():
            entered.cancel()
            raise Lost("the room %s did not answer" % room)
        if not entered.result():
            return
        query = ET.Element("{%s#owner}query" % MUC)
        query.append(form(MUC + "#roomconfig", {
            "muc#roomconfig_membersonly": "1", "muc#roomconfig_whois": "anyone", "muc#roomconfig_persistentroom": "1"}))
        await self.link.ask("set", query, room)

    async def obey_join(self, command):
        room = slixmpp.JID(command["room"]).bare
        since = time.time()
        await self.enter(room, command["nick"])
        self.database.run("INSERT OR IGNORE INTO room VALUES (?, ?, ?)", room, command["nick"], since)
        self.report("joined", room=room, nick=command["nick"])

    async def obey_member(self, command):
        query = ET.Element("{%s#admin}query" % MUC)
        ET.SubElement(query, "{%s#admin}item" % MUC, affiliation="member", jid=command["jid"])
        await self.link.ask("set", query, command["room"])
        self.audience.pop(command["room"], None)
        self.report("member", room=command["room"], jid=command["jid"])

    async def readers(self, room):
        """Everybody who can read in a room, by real address."""
        if room not in self.audience:
            people = set()
            for affiliation in ("owner", "admin", "member"):
                query = ET.Element("{%s#admin}query" % MUC)
                ET.SubElement(query, "{%s#admin}item" % MUC, affiliation=affiliation)
                try:
                    answer = await self.link.ask("get", query, room)
                except Refused:
                    continue  # not for members: the occupants have to do
                people |= {bare(item.get("jid")) for item in answer.iter("{%s#admin}item" % MUC) if item.get("jid")}
            self.audience[room] = people
        return self.audience[room] | set(self.occupants.get(room, {}).values()) | {self.jid}

    # -- going online --

    async def do_online(self, _):
        link = self.link
        self.current_lists.clear()
        self.occupants.clear()
        self.audience.clear()
        for namespace in self.namespaces:
            await settled(link["xep_0163"].add_interest(LISTS[namespace]))
        await settled(link["xep_0115"].update_caps(broadcast=False))
        await link.ask("set", ET.Element("{%s}enable" % CARBONS))
        link.send_presence()
        if self.manager is None:
            await self.step(self.load)
        else:
            self.manager.before_history_sync()
        begun = time.time()
        until = self.noted("handled", begun)
        oldest = self.database.one("SELECT min(made) FROM outbox")
        start = min(until, begun if oldest is None else oldest) - OVERLAP
        rooms = self.database.run("SELECT jid, nick, since FROM room").fetchall()
        for room, nick, _ in rooms:
            try:
                await self.enter(room, nick)
            except Refused as error:
                say({"event": "error", "room": room, "condition": error.condition})
        await self.read_archive(None, max(start, self.noted("made", begun)))
        for room, _, since in rooms:
            try:
                await self.read_archive(room, max(start, since))
            except Refused as error:
                say({"event": "error", "room": room, "condition": error.condition})

        async def caught_up():
            self.note("handled", begun)
            await self.manager.after_history_sync()

        async def consistent():
            await self.manager.ensure_data_consistency()
            self.current_lists |= {(namespace, self.jid) for namespace in self.namespaces}

        await self.step(consistent)
        await self.step(caught_up)
        self.online = True
        say({"event": "online", "device": self.device, "fingerprint": self.fingerprint, "jid": self.jid,
             "namespaces": self.namespaces})
        self.flushed = 0
        self.flush()
        self.queue.put_nowait((link, "wanted", None))

    async def load(self):
        keys = Keys(self.database)
        if self.noted("made", None) is None:
            self.note("made", time.time())
        make = {OLD: oldmemo.Oldmemo, NEW: twomemo.Twomemo}
        self.backends = [make[namespace](keys) for namespace in self.namespaces]
        self.manager = await manager_class(self).create(
            self.backends, keys, self.jid, "test peer", "blind", async_framework=omemo.AsyncFramework.ASYNCIO)
        own, _ = await self.manager.get_own_device_information()
        self.device = own.device_id
        self.fingerprint = fingerprint(own.identity_key)

    async def read_archive(self, room, start):
        """Handles what the archive holds since then; what is known already is skipped."""
        after = None
        stamp = datetime.datetime.utcfromtimestamp(start).strftime("%Y-%m-%dT%H:%M:%SZ")
        while True:
            name = str(uuid.uuid4())
            query = ET.Element("{%s}query" % MAM, queryid=name)
            query.append(form(MAM, {"start": stamp}))
            paging = ET.SubElement(query, "{%s}set" % RSM)
            ET.SubElement(paging, "{%s}max" % RSM).text = "50"
            if after is not None:
                ET.SubElement(paging, "{%s}after" % RSM).text = after
            answer = await self.link.ask("set", query, room)
            for sender, result in self.pages.pop(name, []):
                message = result.find("{%s}forwarded/{%s}message" % (FORWARD, CLIENT))
                if message is not None and sender in ((room,) if room else ("", self.jid)):
                    await self.take(message, "archive", [(room or self.jid, result.get("id"))])
            fin = answer.find("{%s}fin" % MAM)
            last = None if fin is None else text_of(fin, "{%s}set/{%s}last" % (RSM, RSM))
            if fin is None or fin.get("complete") == "true" or last is None:
                return
            after = last

    # -- receiving --

    async def do_message(self, value):
        xml, arrived = value
        sender = xml.get("from")
        event = xml.find("{%s}event/{%s}items" % (EVENT, EVENT))
        if event is not None:
            await self.step(self.list_changed, bare(sender) or self.jid, event)
            return
        source = "live"
        for kind in ("received", "sent"):
            carbon = xml.find("{%s}%s/{%s}forwarded/{%s}message" % (CARBONS, kind, FORWARD, CLIENT))
            if carbon is not None:
                if sender not in (None, self.jid):
                    return  # forged
                xml, source = carbon, "carbon"
                break
        x = xml.find("{%s#user}x" % MUC)
        if x is not None and source == "live" and xml.find("{%s}body" % CLIENT) is None:
            self.audience.pop(bare(sender), None)
        ids = [(one.get("by"), one.get("id")) for one in xml.findall("{%s}stanza-id" % SID)]
        await self.take(xml, source, ids, arrived)

    async def list_changed(self, jid, items):
        namespace = next((one for one in self.namespaces if LISTS[one] == items.get("node")), None)
        found = items.findall("{%s}item" % EVENT)
        if namespace is None or not found or not len(found[-1]):
            return
        try:
            devices = codec(namespace).parse_device_list(found[-1][0]) if len(found[-1][0]) else {}
        except Exception as error:  # xmlschema's errors have no common base that is documented
            self.report("error", **{"from": jid}, reason="bad device list: %s" % type(error).__name__)
            return
        try:
            await self.manager.update_device_list(namespace, jid, devices)
        except omemo.OMEMOException as error:
            self.report("error", **{"from": jid}, reason="device list: %s" % type(error).__name__)
        if jid == self.jid:
            self.current_lists.add((namespace, jid))

    async def take(self, xml, source, ids, arrived=None):
        """A message from wherever: one step."""
        async def work():
            if arrived is not None:
                self.note("handled", arrived)
            await self.message(xml, source, ids)
        self.in_message = True
        try:
            await self.step(work)
        finally:
            self.in_message = False

    def sealed(self, xml):
        """The encrypted part that is for us, its namespace, our key and the sender's device. A message for devices of both
        versions has two parts."""
        found = None, None, [], None
        for namespace in self.namespaces:
            element = xml.find("{%s}encrypted" % namespace)
            if element is not None:
                header = element.find("{%s}header" % namespace)
                keys = [] if header is None else [
                    key for key in header.iter("{%s}key" % namespace) if key.get("rid") == str(self.device)]
                sid = "" if header is None else header.get("sid") or ""
                if keys or found[0] is None:
                    found = element, namespace, keys, int(sid) if sid.isdigit() else None
                if keys:
                    break
        return found

    async def message(self, xml, source, ids):
        kind = xml.get("type") or "normal"
        identifier = xml.get("id")
        origin = xml.find("{%s}origin-id" % SID)
        sender, recipient = xml.get("from") or self.jid, xml.get("to") or self.jid
        if kind == "error":
            condition = [child.tag.split("}")[1] for child in xml.findall("{%s}error/{%s}*" % (CLIENT, STANZAS))]
            self.report("error", **{"from": sender}, id=identifier, condition=" ".join(condition))
            return
        room = bare(sender) if kind == "groupchat" else None
        element, namespace, keys, sid = self.sealed(xml)
        body = text_of(xml, "{%s}body" % CLIENT)
        if identifier is not None and (sid == self.device or bare(sender) == self.jid):
            self.confirm(identifier)
        names = ["archive %s %s" % one for one in ids if one[0] in (self.jid, room)]
        if identifier is not None or origin is not None:
            own = origin.get("id") if origin is not None else identifier
            names.append("id %s %s" % (sender if room else bare(sender), own))
        digest = None
        if element is not None:
            parts = [(room or bare(sender)), str(sid)] + [key.text or "" for key in keys] + [
                text_of(element, "{%s}payload" % namespace) or ""]
            digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
            names.append("digest " + digest)
        rows = [self.database.run("SELECT digest FROM seen WHERE key=?", name).fetchone() for name in names]
        for name in names:
            self.database.run("INSERT OR IGNORE INTO seen VALUES (?, ?)", name, digest)
        met = [row[0] for row in rows if row is not None]
        if met:
            if digest is not None and sid != self.device and all(other != digest for other in met):
                self.report("repeated", **{"from": sender}, id=identifier, device=sid)
            return
        fields = {"from": sender, "id": origin.get("id") if origin is not None else identifier, "source": source}
        if bare(sender) == self.jid:
            fields["to"] = recipient
        if room:
            fields["room"] = room
        if element is None:
            other = xml.find("{urn:xmpp:eme:0}encryption")
            if other is not None:
                self.report("undecryptable", reason="namespace " + str(other.get("namespace")), **fields)
            elif body:
                self.report("message", body=body, encrypted=False, device=None, **fields)
            return
        if sid == self.device:
            return  # our own, of which the server tells us
        await self.open(xml, element, namespace, keys, sid, room, fields)

    def senders(self, xml, room, sid):
        """Who may have sent it: one, or in a room's archive perhaps several."""
        if room is None:
            return [bare(xml.get("from") or self.jid)]
        item = xml.find("{%s#user}x/{%s#user}item" % (MUC, MUC))
        if item is not None and item.get("jid"):
            return [bare(item.get("jid"))]
        nick = (xml.get("from") or "").partition("/")[2]
        known = self.occupants.get(room, {})
        if nick in known:
            return [known[nick]]
        rows = self.database.run("SELECT key FROM omemo WHERE key LIKE ?", "/devices/%%/%d/identity_key" % sid)
        return [row[0].split("/")[2] for row in rows.fetchall()]

    async def open(self, xml, element, namespace, keys, sid, room, fields):
        fields = {**fields, "device": sid, "namespace": namespace}
        if not keys and element.find("{%s}payload" % namespace) is None:
            return  # an empty message for another device
        reason = None
        exchange = any((key.get("prekey") or key.get("kex")) in ("true", "1") for key in keys)
        if sid is None:
            reason = "malformed: no sid"
        elif not keys:
            reason = "not-for-us"
        candidates = [] if reason else self.senders(xml, room, sid)
        for sender in candidates:
            self.database.run("SAVEPOINT attempt")
            try:
                if namespace == OLD:
                    message = await oldmemo.etree.parse_message(element, sender, self.jid, self.manager)
                else:
                    message = twomemo.etree.parse_message(element, sender)
                plaintext, device, _ = await self.manager.decrypt(message)
                body, more = (None, {}) if plaintext is None else self.content(namespace, plaintext, sender, room, xml)
                self.database.run("RELEASE attempt")
                self.report(
                    "empty" if plaintext is None else "message",
                    **({} if plaintext is None else {"body": body, "encrypted": True, **more}),
                    kex=exchange, fingerprint=fingerprint(device.identity_key), sender=sender, **fields)
                return
            except Lost:
                raise
            except Exception as error:  # a hostile stanza may fail in any way; it is reported, and does not stop us
                self.database.run("ROLLBACK TO attempt")
                self.database.run("RELEASE attempt")
                reason = "%s: %s" % (type(error).__name__, error)
        self.report("undecryptable", reason=reason or "sender unknown", kex=exchange, **fields)

    def content(self, namespace, plaintext, sender, room, xml):
        """The text, and the ids of what it replaces or answers: in 2 only what the envelope says."""
        def more(parts):
            found = {"replaces": parts.find("{urn:xmpp:message-correct:0}replace"),
                     "answers": parts.find("{urn:xmpp:reply:0}reply")}
            return {name: part.get("id") for name, part in found.items() if part is not None}

        if namespace == OLD:
            return plaintext.decode(), more(xml)
        envelope = ET.fromstring(plaintext)
        claimed = envelope.find("{%s}from" % SCE)
        if claimed is not None and bare(claimed.get("jid")) != sender:
            raise ValueError("the envelope is from somebody else")
        target = envelope.find("{%s}to" % SCE)
        if room and (target is None or bare(target.get("jid")) != room):
            raise ValueError("the envelope is for another room")
        content = envelope.find("{%s}content" % SCE)
        return text_of(content, "{%s}body" % CLIENT), more(content)

    # -- sending --

    def put_out(self, identifier, messages, to, kind, has_content, report):
        """Puts an encrypted message into the outbox, within the step: a stanza for the devices of all versions."""
        stanza = ET.Element("{%s}message" % CLIENT, {"to": to, "type": kind, "id": identifier})
        for message in messages:
            stanza.append(codec(message.namespace).serialize_message(message))
        namespace = OLD if any(message.namespace == OLD for message in messages) else NEW
        if has_content or self.options.eme_in_empty:
            # Dino 0.4.2 shows an empty message that has this as one it could not read.
            ET.SubElement(stanza, "{urn:xmpp:eme:0}encryption", namespace=namespace, name="OMEMO")
        if has_content and namespace == OLD:
            ET.SubElement(stanza, "{%s}body" % CLIENT).text = FALLBACK
        ET.SubElement(stanza, "{%s}store" % HINTS)
        ET.SubElement(stanza, "{%s}origin-id" % SID, id=identifier)
        self.keep_out(identifier, stanza, report)

    def keep_out(self, identifier, stanza, report):
        self.database.run("INSERT INTO outbox (id, xml, report, made) VALUES (?, ?, ?, ?)", identifier,
                          ET.tostring(stanza, encoding="unicode"), json.dumps(report), time.time())

    flushed = 0

    def flush(self):
        """Sends what has been committed, once a connection. What the archive showed meanwhile is no longer here."""
        if not self.online or self.link is None or self.link.lost.done():
            return
        for number, xml in self.database.run(
                "SELECT number, xml FROM outbox WHERE number>? ORDER BY number", self.flushed).fetchall():
            stanza = slixmpp.Message(self.link, xml=ET.fromstring(xml))
            if self.options.stanzas:
                self.log_stanza("out", stanza.xml)
            self.link.send(stanza)
            # slixmpp 1.8.3 itself asks before the stanza, not after it.
            self.link.send("<r xmlns='urn:xmpp:sm:3'/>")
            self.flushed = number

    def confirm(self, identifier):
        """The server has it."""
        report = self.database.one("SELECT report FROM outbox WHERE id=?", identifier)
        if report is not None:
            self.database.run("DELETE FROM outbox WHERE id=?", identifier)
            self.database.run("UPDATE known SET sent=1 WHERE id=?", identifier)
            fields = json.loads(report)
            if fields:
                self.report(fields.pop("event"), **fields)

    async def do_acknowledged(self, identifier):
        async def work():
            self.confirm(identifier)
        await self.step(work)


async def settled(value):
    """Some of slixmpp's methods are coroutines, depending on its version."""
    return await value if inspect.isawaitable(value) else value


def fingerprint(identity_key):
    return "".join(omemo.SessionManager.format_identity_key(identity_key))


def say(fields):
    sys.stdout.write(json.dumps(fields, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("jid")
    parser.add_argument("port", type=int)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--ca")
    parser.add_argument("--ns", choices=("0.3", "2", "both"), default="0.3")
    parser.add_argument("--stanzas", action="store_true", help="write all messages to FOLDER/stanzas")
    parser.add_argument("--eme-in-empty", action="store_true", help="XEP-0380 in empty messages too")
    parser.add_argument("--debug", action="store_true", help="write a log to FOLDER/log, with keys in it")
    options = parser.parse_args()
    os.makedirs(options.folder, mode=0o700, exist_ok=True)
    if options.debug:
        logging.basicConfig(filename=os.path.join(options.folder, "log"), level=logging.DEBUG,
                            format="%(asctime)s %(name)s %(message)s")
    else:
        logging.disable(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    status = loop.run_until_complete(Peer(options).run())
    sys.stdout.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
