#!/usr/bin/python3
"""A UnifiedPush distributor (DBUS_0.3.0) for the laboratory: the session bus on one side, Prosody's mod_unified_push on the other.

  distributor.py NAME STATE PORT CA [VERSION]     has org.unifiedpush.Distributor.NAME on the session bus; VERSION is 1 or 2 (default)

Its account is phone@localhost. Registrations are in the file STATE. After a start each registration gets another endpoint, which the connector is
called with; an endpoint of before stays valid. Everything but the program itself is real: bus, calls, activation, stanzas, the push service.
"""
import asyncio, base64, hashlib, json, os, sys
from xml.etree import ElementTree

import slixmpp
from gi.repository import Gio, GLib
from slixmpp.xmlstream.handler import Callback
from slixmpp.xmlstream.matcher import MatchXPath

NAME, STATE, PORT, AUTHORITY = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
VERSION = int(sys.argv[5]) if len(sys.argv) > 5 else 2
SPACE = "http://gultsch.de/xmpp/drafts/unified-push"
INTERFACES = {
    2: """<node><interface name="org.unifiedpush.Distributor2">
      <method name="Register"><arg type="a{sv}" direction="in"/><arg type="a{sv}" direction="out"/></method>
      <method name="Unregister"><arg type="a{sv}" direction="in"/><arg type="a{sv}" direction="out"/></method>
    </interface></node>""",
    1: """<node><interface name="org.unifiedpush.Distributor1">
      <method name="Register"><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/>
        <arg type="s" direction="out"/><arg type="s" direction="out"/></method>
      <method name="Unregister"><arg type="s" direction="in"/></method>
    </interface></node>""",
}


def digest(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


class Distributor:
    def __init__(self):
        self.registrations = json.load(open(STATE)) if os.path.exists(STATE) else {}
        self.context = GLib.MainContext.default()
        self.online = asyncio.Event()

    def store(self):
        with open(STATE + ".new", "w") as file:
            json.dump(self.registrations, file)
        os.rename(STATE + ".new", STATE)

    def begin(self):
        self.bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
        node = Gio.DBusNodeInfo.new_for_xml(INTERFACES[VERSION])
        self.bus.register_object("/org/unifiedpush/Distributor", node.interfaces[0], self.called, None, None)
        Gio.bus_own_name_on_connection(self.bus, "org.unifiedpush.Distributor." + NAME, Gio.BusNameOwnerFlags.NONE, None, None)
        self.bus.connect("closed", lambda *_: os._exit(1))

    def called(self, bus, sender, path, interface, method, arguments, invocation):
        words = arguments.unpack()
        if VERSION == 2:
            service, token = words[0].get("service"), words[0].get("token")
        else:
            service, token = (words[0], words[1]) if method == "Register" else (None, words[0])
        if method == "Register":
            self.registrations[token] = service
            self.store()
            succeeded = GLib.Variant("(a{sv})", ({"success": GLib.Variant("s", "REGISTRATION_SUCCEEDED")},))
            invocation.return_value(succeeded if VERSION == 2 else GLib.Variant("(ss)", ("REGISTRATION_SUCCEEDED", "")))
            asyncio.ensure_future(self.deliver_endpoint(token))
        else:
            former = self.registrations.pop(token, None)
            self.store()
            invocation.return_value(GLib.Variant("(a{sv})", ({},)) if VERSION == 2 else None)
            if former:
                self.call(former, "Unregistered", token)

    def call(self, service, method, token, name=None, value=None):
        """The caller does not wait for a response."""
        if VERSION == 2:
            fields = {"token": GLib.Variant("s", token)}
            if name:
                fields[name] = value
            if name == "message":
                fields["id"] = GLib.Variant("s", base64.b64encode(os.urandom(6)).decode())
            arguments = GLib.Variant("(a{sv})", (fields,))
        elif name == "message":
            arguments = GLib.Variant("(says)", (token, value.unpack(), ""))
        else:
            arguments = GLib.Variant("(ss)", (token, value.unpack())) if name else GLib.Variant("(s)", (token,))
        self.bus.call(service, "/org/unifiedpush/Connector", f"org.unifiedpush.Connector{VERSION}", method, arguments, None,
                      Gio.DBusCallFlags.NONE, -1, None, None)

    async def deliver_endpoint(self, token):
        await self.online.wait()
        iq = self.phone.make_iq_set(ito="up.localhost")
        iq.append(ElementTree.Element("{%s}register" % SPACE, {"application": digest("kalij"), "instance": digest(token)}))
        answer = await iq.send(timeout=20)
        endpoint = answer.xml.find("{%s}registered" % SPACE).get("endpoint")
        service = self.registrations.get(token)
        if service:
            self.call(service, "NewEndpoint", token, "endpoint", GLib.Variant("s", endpoint))

    def received(self, iq):
        push = iq.xml.find("{%s}push" % SPACE)
        iq.reply().send()
        for token, service in self.registrations.items():
            if digest(token) == push.get("instance"):
                print("push", flush=True)
                self.call(service, "Message", token, "message", GLib.Variant("ay", base64.b64decode(push.text)))

    async def connect(self):
        while True:
            self.phone = slixmpp.ClientXMPP("phone@localhost/lab", "secret")
            self.phone.ca_certs = AUTHORITY
            self.phone.register_handler(Callback("push", MatchXPath("{jabber:client}iq/{%s}push" % SPACE), self.received))
            lost = asyncio.Event()
            self.phone.add_event_handler("disconnected", lambda _: lost.set())
            self.phone.add_event_handler("connection_failed", lambda _: lost.set())
            self.phone.add_event_handler("session_start", self.started)
            self.phone.connect(("127.0.0.1", PORT))
            await lost.wait()
            self.online.clear()
            self.phone.cancel_connection_attempt()
            await asyncio.sleep(0.3)

    async def started(self, _):
        # Pushes come to this resource.
        self.phone.send_presence()
        self.online.set()
        for token in list(self.registrations):
            await self.deliver_endpoint(token)

    async def run(self):
        connecting = asyncio.ensure_future(self.connect())
        self.begin()
        while not connecting.done():
            while self.context.iteration(False):
                pass
            await asyncio.sleep(0.01)
        connecting.result()


asyncio.get_event_loop().run_until_complete(Distributor().run())
