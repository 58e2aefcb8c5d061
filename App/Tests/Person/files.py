"""Files: pasted, sent with a description, accepted before a kill; all but the pasted picture are compared at the far end by SHA-256.

    stage PROGRAM files
"""
import contextlib
import hashlib
import os
import pathlib
import random
import ssl
import subprocess
import sys
import time
import urllib.request

import person
import server as servers
import tour

#: Owns the clipboard: of a picture, or of files.
OWNER = """
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, GdkPixbuf, Gdk, GLib
kind, path = sys.argv[1:]
if kind == "picture":
    Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD).set_image(GdkPixbuf.Pixbuf.new_from_file(path))
else:
    owner = Gtk.Invisible()
    owner.connect("selection-get", lambda widget, data, info, time: data.set_uris([GLib.filename_to_uri(path, None)]))
    Gtk.selection_add_target(owner, Gdk.SELECTION_CLIPBOARD, Gdk.Atom.intern("text/uri-list", False), 0)
    Gtk.selection_owner_set(owner, Gdk.SELECTION_CLIPBOARD, 0)
print("here", flush=True)
Gtk.main()
"""


@contextlib.contextmanager
def clipboard(kind, path):
    """Another program has a picture, or a file, in the clipboard."""
    owner = subprocess.Popen([sys.executable, "-c", OWNER, kind, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        owner.stdout.readline()
        time.sleep(0.5)
        yield
    finally:
        owner.kill()


class Files(tour.Stage):
    def run(self):
        self.juliet, self.nurse = self.begin("juliet", "nurse")
        self.log_in()
        self.kalij("send", "nurse@localhost", "Sweet nurse")
        self.kalij("send", "juliet@localhost", "Good morrow")
        self.files = pathlib.Path(self.stage) / "files"
        self.files.mkdir()
        self.trust = ssl.create_default_context(cafile=str(self.server.certificate))
        self.start()
        me = self.person
        me.select("Conversations", "juliet@localhost.*")
        me.wait_focus("list item", ".*")
        me.key("Return")
        me.wait_row("Messages", ".*Good morrow.*")
        self.copied()
        self.kept()
        self.pasted()
        self.hostile()
        self.stopped()
        me.end()
        self.warnings()

    def picture_file(self, name, side=60):
        from gi.repository import GdkPixbuf
        pixels = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, False, 8, side, side)
        pixels.fill(random.randrange(1 << 24) << 8 | 0xFF)
        path = str(self.files / name)
        pixels.savev(path, "png", [], [])
        return path

    def paste(self, kind, path, name):
        """By the clipboard of another program."""
        me = self.person
        with clipboard(kind, path):
            me.key("ctrl+v")
            me.see("push button", "Remove " + name)

    def attach(self, path):
        self.paste("file", path, os.path.basename(path))

    def arrives(self, path):
        """The far end fetches what was announced."""
        end, seen = time.monotonic() + 60, 0
        wanted = hashlib.sha256(open(path, "rb").read()).hexdigest()
        while time.monotonic() < end:
            links = [text for text in list(self.juliet.received) if text.startswith("https://")]
            for link in links[seen:]:
                body = urllib.request.urlopen(link, context=self.trust, timeout=20).read()
                if hashlib.sha256(body).hexdigest() == wanted:
                    return link
            seen = len(links)
            time.sleep(0.05)
        raise person.Lost(f"{path} has not arrived: {self.juliet.received}")

    def copied(self):
        me = self.person
        path = self.picture_file("balcony.png")
        self.attach(path)
        me.picture("attached.png")
        me.wait_focus("text", ".*")
        me.type("By the moon")
        me.key("Return")
        row = me.wait_row("Messages", "You, .*Picture balcony.png. .*(Sent|Delivered)")
        self.say(f"a copied picture file: {row!r}")
        self.arrives(path)
        self.juliet.wait_for("By the moon")
        me.wait_row("Messages", "You, .*By the moon.*")
        me.see("push button", "Open")
        time.sleep(1)
        me.picture("sent-picture.png")

    def kept(self):
        """A file and a correction wait in their conversation while another one is open."""
        me = self.person
        path = self.picture_file("kept.png")
        self.attach(path)
        self.open("nurse")
        if me.sees("push button", "Remove kept.png"):
            raise person.Lost("a file is attached to another conversation")
        self.open("juliet")
        me.see("push button", "Remove kept.png")
        me.press("Remove kept.png")
        me.gone("push button", "Remove kept.png")
        me.wait_focus("text", person.MESSAGE)
        me.key("Up")
        me.see("label", "Correct the message: .*")
        me.wait("the text to correct", lambda: self.written() == "By the moon")
        me.key("ctrl+End")
        me.type("light")
        me.wait("the corrected text", lambda: self.written() == "By the moonlight")
        self.open("nurse")
        if self.written():
            raise person.Lost(f"a correction shows in another conversation: {self.written()!r}")
        self.open("juliet")
        me.wait("the correction", lambda: self.written() == "By the moonlight")
        me.key("Return")
        self.juliet.wait_for("By the moonlight")
        self.say("a file and a correction wait in their conversation")

    def written(self):
        return self.person.text(next(self.person.fields(person.MESSAGE)))

    def pasted(self):
        me = self.person
        self.paste("picture", self.picture_file("pasted.png", 30), "picture.png")
        me.key("Return")
        me.wait_row("Messages", "You, .*Picture picture.png. .*(Sent|Delivered)")
        self.say("a pasted picture is sent")

    def hostile(self):
        me = self.person
        path = self.files / "drawing.svg"
        path.write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
        self.attach(str(path))
        me.key("Return")
        row = me.wait_row("Messages", "You, .*Picture drawing.svg.*(Sent|Delivered)")
        me.see("label", "Not shown: .*")
        self.arrives(path)
        self.say(f"what is not decoded says what it is: {row!r}")

    def stopped(self):
        me = self.person
        self.server.stop()
        path = self.files / "verse.bin"
        path.write_bytes(random.randbytes(300_000))
        self.attach(str(path))
        me.key("Return")
        me.wait_row("Messages", "You, .*File verse.bin. 300.KB, (Waiting|Stopped).*")
        me.press("Stop")
        me.wait_row("Messages", "You, .*File verse.bin. 300.KB, Stopped.*")
        me.press("Go on")
        me.wait_row("Messages", "You, .*File verse.bin. 300.KB, Waiting.*")
        listed = self.kalij("uploads")
        if "verse.bin" not in listed:
            raise person.Lost("a second process does not see the file: " + listed)
        me.picture("waiting.png")
        me.kill()
        self.server.start()
        # The other program does not reconnect.
        self.juliet = servers.OtherPerson(self.server, "juliet", "secret-juliet")
        self.start()
        me.wait_row("Messages", "You, .*File verse.bin.*(Sent|Delivered)", 60)
        self.arrives(path)
        self.say("accepted, the app killed, the server gone: the file goes on")
