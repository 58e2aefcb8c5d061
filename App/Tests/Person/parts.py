"""What the program relies on is missing or ends: its outputs, the decoder of pictures, the session bus, the portal in the middle of a question, the
owner of the clipboard. It says so, loses nothing, and goes on.

    stage PROGRAM parts          STEPS="portal bus": some of them alone
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import files
import person
import portal
import tour

STEPS = "decoder outputs portal clipboard bus"
#: Programs in the decoder's place; none for one that is missing.
DECODERS = {"missing": None, "killed": "kill -9 $$", "silent": "exec sleep 100", "endless": "exec cat /dev/zero",
            "junk": r"printf '\377\377\377\377\1\0\0\0\3\0\0\0abc'"}
RESPONSE = "bus.emit_signal(sender, request, 'org.freedesktop.portal.Request', 'Response', GLib.Variant({}))"
REQUEST = "invocation.return_value(GLib.Variant('(o)', (request,)))"
#: What a portal does with a question, and what is said then.
PORTALS = {"ends": ("__import__('os')._exit(0)", "The screen could not be read"),
           "ends later": (f"({REQUEST}, GLib.timeout_add(500, lambda: __import__('os')._exit(0)))", "The screen could not be read"),
           "silent": ("None", "The screen could not be read"),
           "no file": (f"({REQUEST}, {RESPONSE.format(repr('(ua{sv})') + ', (0, {' + repr('uri') + ': GLib.Variant(' + repr('s') + ', ' + repr('file:///none.png') + ')})')})",
                       "This is no picture that can be read"),
           "junk": (f"({REQUEST}, {RESPONSE.format(repr('(ss)') + ', (' + repr('a') + ', ' + repr('b') + ')')})", "The screen could not be read")}


class Parts(tour.Stage):
    def run(self):
        self.juliet, = self.begin("juliet")
        self.log_in()
        self.kalij("send", "juliet@localhost", "Good morrow")
        for name in os.environ.get("STEPS", STEPS).split():
            getattr(self, name)()
            if self.person.program.poll() is None:
                self.person.end()
            self.warnings()

    def enter(self):
        """The conversation with juliet, which is open again at the second start."""
        me = self.person
        me.wait_row("Conversations", "juliet.*")
        time.sleep(1)
        if not me.sees("list", "Messages"):
            self.open("juliet")
        for _ in range(6):
            if me.focused() and re.fullmatch(person.MESSAGE, me.focused().get_name() or ""):
                return
            me.key("F6")
            time.sleep(0.4)
        raise person.Lost("the field of the message does not get the focus")

    def write(self, text):
        self.person.wait_focus("text", person.MESSAGE)
        self.person.type(text)
        self.person.key("Return")
        self.juliet.wait_for(text)

    def receive(self, name):
        """A picture comes; returns its row."""
        import gi
        gi.require_version("GdkPixbuf", "2.0")
        from gi.repository import GdkPixbuf
        path = f"{self.stage}/{name}.png"
        pixels = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, False, 8, 200, 100)
        pixels.fill(0xff8800ff)
        pixels.savev(path, "png", [], [])
        mine, self.data = self.data, self.stage + "/juliet"
        if not os.path.exists(self.data):
            self.log_in("juliet")
        self.kalij("send", "romeo@localhost", "--file", path)
        self.data = mine
        self.person.wait_row("Messages", f".*{name}.png.*")

    # Parts

    def outputs(self):
        me = self.person
        me.log = self.stage + "/outputs.log"
        open(me.log, "w").close()
        trust = {"SSL_CERT_FILE": str(self.server.certificate)}
        me.program = subprocess.Popen(["/bin/sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', os.environ["KALIJ_APP"], "--data", self.data],
                                      env=os.environ | trust)
        me.app = me.wait("the app", me.find_app)
        self.enter()
        self.write("Without outputs")
        self.receive("outputs")
        time.sleep(2)
        if me.sees("label", "Not shown.*"):
            raise person.Lost("the picture is not shown")
        self.say("without standard input and output, texts leave and pictures are shown")

    def decoder(self):
        me, whole, folder = self.person, os.environ["KALIJ_APP"], pathlib.Path(self.stage) / "bin"
        folder.mkdir()
        for name in ("kalij-app", "kalij-app-background"):
            shutil.copy(pathlib.Path(whole).with_name(name), folder)
        os.environ["KALIJ_APP"] = str(folder / "kalij-app")
        self.start()
        os.environ["KALIJ_APP"] = whole
        self.enter()
        for number, (name, script) in enumerate(DECODERS.items(), 1):
            program = folder / "kalij-app-decode"
            program.unlink(missing_ok=True)
            if script:
                program.write_text(f"#!/bin/sh\n{script}\n")
                program.chmod(0o755)
            self.receive(name)
            me.wait("the note", lambda: len(list(me.nodes("label", "Not shown.*"))) == number)
        me.picture("decoder.png")
        self.write("And texts go on")
        self.say(f"a decoder that is {', '.join(DECODERS)}: the picture is a file, and all goes on")

    def portal(self):
        me, text = self.person, pathlib.Path(portal.__file__).read_text()
        begin, end = text.index("        invocation.return_value"), text.index("    def get(")
        script = pathlib.Path(self.stage) / "broken_portal.py"
        for name, (does, words) in PORTALS.items():
            script.write_text(text[:begin] + f"        {does}\n\n" + text[end:])
            broken = subprocess.Popen(["/usr/bin/python3", script, "/none.png"], stdout=subprocess.PIPE, text=True)
            try:
                broken.stdout.readline()
                me.start("--data", f"{self.stage}/portal {name}")
                me.press("I have an invitation")
                me.see("push button", "Read it from a code …")
                me.press("Read it from a code …")
                me.see("push button", "From the screen")
                me.press("From the screen")
                # The dialog is hidden meanwhile: GTK 4.8 then has no path for what a reader of its tree asks about, and says so as critical.
                time.sleep(11 if name == "silent" else 2)
                me.see("label", words)
                me.see("push button", "From the clipboard")
                self.say(f"a portal that is or does \"{name}\": {words!r}, and the dialog is there again")
                me.end()
            finally:
                broken.kill()

    def clipboard(self):
        me, picture = self.person, self.stage + "/code.png"
        subprocess.run(["qrencode", "-s", "6", "-o", picture, "xmpp:localhost?register;preauth=abc"], check=True)
        me.start("--data", self.stage + "/clipboard")
        me.press("I have an invitation")
        me.see("push button", "Read it from a code …")
        me.press("Read it from a code …")
        me.see("push button", "From the clipboard")
        owner = subprocess.Popen([sys.executable, "-c", files.OWNER, "picture", picture], stdout=subprocess.PIPE, text=True)
        try:
            owner.stdout.readline()
            time.sleep(0.5)
            owner.send_signal(signal.SIGSTOP)
            me.press("From the clipboard")
            me.see("label", "The program that has copied it does not answer")
            me.picture("clipboard.png")
        finally:
            owner.kill()
        self.say("an owner of the clipboard that does not answer is said")

    def bus(self):
        me = self.person
        address = subprocess.run(["gdbus", "call", "--session", "--dest", "org.a11y.Bus", "--object-path", "/org/a11y/bus", "--method",
                                  "org.a11y.Bus.GetAddress"], capture_output=True, text=True, check=True, timeout=20).stdout
        daemon = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address=1"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        try:
            self.start(DBUS_SESSION_BUS_ADDRESS=daemon.stdout.readline().strip(), AT_SPI_BUS_ADDRESS=re.search("'(.*)'", address)[1])
            self.enter()
            me.type("When the bus ")
        finally:
            daemon.kill()
            daemon.wait()
        time.sleep(1)
        me.type("ends")
        me.key("Return")
        self.juliet.wait_for("When the bus ends")
        self.juliet.say("romeo@localhost", "I hear thee")
        me.wait_row("Messages", ".*I hear thee.*")
        self.say("without the session bus, which has ended, texts leave and come")
