"""A desktop whose portal makes pictures of the screen (org.freedesktop.portal.Screenshot): a fake on the session bus, whose user agrees at once.

    portal.py PICTURE
"""
import contextlib
import pathlib
import subprocess
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAME, PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
INTERFACE = """<node><interface name='org.freedesktop.portal.Screenshot'>
  <method name='Screenshot'><arg type='s' direction='in'/><arg type='a{sv}' direction='in'/><arg type='o' direction='out'/></method>
  <property name='version' type='u' access='read'/>
</interface></node>"""


def serve(picture):
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)

    def called(_bus, sender, _path, _interface, _method, arguments, invocation):
        token = arguments.unpack()[1]["handle_token"]
        request = f"{PATH}/request/{sender[1:].replace('.', '_')}/{token}"
        invocation.return_value(GLib.Variant("(o)", (request,)))
        uri = GLib.Variant("s", pathlib.Path(picture).as_uri())
        bus.emit_signal(sender, request, "org.freedesktop.portal.Request", "Response", GLib.Variant("(ua{sv})", (0, {"uri": uri})))

    def get(*_):
        return GLib.Variant("u", 2)

    bus.register_object(PATH, Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], called, get, None)
    owned = bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                          GLib.Variant("(su)", (NAME, 4)), None, 0, -1)
    if owned.unpack()[0] != 1:
        sys.exit(NAME + " has an owner")
    print("ready", flush=True)
    GLib.MainLoop().run()


@contextlib.contextmanager
def screen(picture):
    """The portal is there, and its picture of the screen is the file."""
    process = subprocess.Popen(["/usr/bin/python3", __file__, str(picture)], stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline() != "ready\n":
            raise SystemExit("no portal")
        yield
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    serve(sys.argv[1])
