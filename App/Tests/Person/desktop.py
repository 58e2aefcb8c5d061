"""A desktop that shows notifications: a fake of one of the three services, on the session bus. It has what a person can do besides: look at the
notifications, and use an action of one.

    desktop.py freedesktop|gtk|portal APPLICATION

A notification remains until the application withdraws it, also after an action.
"""
import json
import subprocess
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

TEST = "org.kalij.Test"
KINDS = {
    "freedesktop": ("org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications"),
    "gtk": ("org.gtk.Notifications", "/org/gtk/Notifications", "org.gtk.Notifications"),
    "portal": ("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Notification"),
}
INTERFACES = """<node>
<interface name='org.kalij.Test'>
  <method name='State'><arg type='s' direction='out'/></method>
  <method name='Act'><arg type='s' direction='in'/><arg type='s' direction='in'/><arg type='s' direction='in'/></method>
</interface>
<interface name='org.freedesktop.Notifications'>
  <method name='GetCapabilities'><arg type='as' direction='out'/></method>
  <method name='GetServerInformation'><arg type='s' direction='out'/><arg type='s' direction='out'/><arg type='s' direction='out'/><arg type='s' direction='out'/></method>
  <method name='Notify'><arg type='s' direction='in'/><arg type='u' direction='in'/><arg type='s' direction='in'/><arg type='s' direction='in'/><arg type='s' direction='in'/><arg type='as' direction='in'/><arg type='a{sv}' direction='in'/><arg type='i' direction='in'/><arg type='u' direction='out'/></method>
  <method name='CloseNotification'><arg type='u' direction='in'/></method>
</interface>
<interface name='org.gtk.Notifications'>
  <method name='AddNotification'><arg type='s' direction='in'/><arg type='s' direction='in'/><arg type='a{sv}' direction='in'/></method>
  <method name='RemoveNotification'><arg type='s' direction='in'/><arg type='s' direction='in'/></method>
</interface>
<interface name='org.freedesktop.portal.Notification'>
  <method name='AddNotification'><arg type='s' direction='in'/><arg type='a{sv}' direction='in'/></method>
  <method name='RemoveNotification'><arg type='s' direction='in'/></method>
</interface>
</node>"""


class Fake:
    """The service, in a process of its own."""

    def __init__(self, kind, application):
        self.kind, self.application = kind, application
        self.shown, self.last, self.calls = {}, 0, 0
        self.bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        name, self.path, self.interface = KINDS[kind]
        node = Gio.DBusNodeInfo.new_for_xml(INTERFACES)
        for interface in (self.interface, TEST):
            self.bus.register_object(self.path, node.lookup_interface(interface), self.called, None, None)
        owned = self.bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                                   GLib.Variant("(su)", (name, 4)), None, 0, -1)
        if owned.unpack()[0] != 1:
            sys.exit(name + " has an owner")
        print("ready", flush=True)
        GLib.MainLoop().run()

    def called(self, _bus, _sender, _path, _interface, method, arguments, invocation):
        reply = getattr(self, method)(*arguments.unpack())
        invocation.return_value(reply)

    # The three services

    def GetCapabilities(self):
        return GLib.Variant("(as)", (["actions", "body", "body-markup", "inline-reply", "persistence"],))

    def GetServerInformation(self):
        return GLib.Variant("(ssss)", ("fake", "kalij", "1", "1.2"))

    def Notify(self, _name, replaces, _icon, title, body, actions, _hints, _expiry):
        self.calls += 1
        number = replaces
        # A number that is not shown any more is not used again.
        if str(replaces) not in self.shown:
            self.last += 1
            number = self.last
        self.shown[str(number)] = {"title": title, "body": body, "actions": actions[::2], "count": self.calls}
        return GLib.Variant("(u)", (number,))

    def CloseNotification(self, number):
        self.shown.pop(str(number), None)

    def AddNotification(self, *words):
        self.calls += 1
        key, fields = words[-2:]
        actions = {button["action"]: button["target"] for button in fields.get("buttons", [])}
        self.shown[key] = {"title": fields["title"], "body": fields.get("body", ""), "actions": list(actions), "count": self.calls,
                           "targets": actions, "open": fields["default-action-target"]}

    def RemoveNotification(self, *words):
        self.shown.pop(words[-1], None)

    # The person

    def State(self):
        return GLib.Variant("(s)", (json.dumps(self.shown),))

    def Act(self, key, action, text):
        if self.kind == "freedesktop":
            if action == "inline-reply":
                self.signal("NotificationReplied", GLib.Variant("(us)", (int(key), text)))
            else:
                self.signal("ActionInvoked", GLib.Variant("(us)", (int(key), action)))
            return
        held = self.shown[key]
        target = held["open"] if action == "open-conversation" else held["targets"]["app." + action]
        path = "/" + self.application.replace(".", "/").replace("-", "_")
        arguments = GLib.Variant("(sava{sv})", (action, [GLib.Variant("s", target)], {}))
        # The service does not wait: the application may be started by this call.
        self.bus.call(self.application, path, "org.freedesktop.Application", "ActivateAction", arguments, None, 0, 30_000, None, None)

    def signal(self, name, body):
        self.bus.emit_signal(None, self.path, self.interface, name, body)


class Desktop:
    """The tour's side."""

    def __init__(self, kind, application):
        self.kind = kind
        self.name, self.path, _ = KINDS[kind]
        self.process = subprocess.Popen(["/usr/bin/python3", __file__, kind, application], stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("no desktop")
        self.bus = Gio.bus_get_sync(Gio.BusType.SESSION)

    def call(self, method, *words):
        arguments = GLib.Variant("(" + "s" * len(words) + ")", words)
        return self.bus.call_sync(self.name, self.path, TEST, method, arguments, None, 0, 10_000).unpack()

    def shown(self):
        """The notifications: title, body, actions by the key of each."""
        return json.loads(self.call("State")[0])

    def act(self, key, action, text=""):
        self.call("Act", key, action, text)

    def end(self):
        self.process.kill()
        self.process.wait()


if __name__ == "__main__":
    Fake(*sys.argv[1:])
