"""The hand of a person: files in another program, copied to the clipboard or dragged out of it.

    hand.py copy|drag PATH...        says "done", and has the files until it is killed
"""
import select
import subprocess
import sys

if __name__ == "__main__":
    import gi
    gi.require_version("Gdk", "3.0")
    gi.require_version("Gtk", "3.0")
    from gi.repository import Gdk, GLib, Gtk

#: Where the other program's window is: a corner, over that of the app.
CORNER = 20


class Hand:
    """The tour's side. Each time it is another program: GTK 4 under X11 has an assertion that fails at the second drag of one
    window (`xdnd_source_surface_filter` gives its actions to the drop that has ended, too)."""

    def __init__(self):
        self.process = None

    def copy(self, paths):
        self.begin("copy", paths)

    def drag(self, paths, x, y, is_living=lambda: True):
        """Drags the files to a place of the screen; again if the target has not answered in time, while it lives."""
        for _ in range(5):
            if not is_living():
                break
            self.begin("drag", paths)
            self.move(x, y)
            if select.select([self.process.stdout], [], [], 5)[0] and self.process.stdout.readline() == "dropped\n":
                return
        raise subprocess.SubprocessError("nothing takes what is dropped")

    def move(self, x, y):
        steps = ["mousemove", str(CORNER), str(CORNER), "mousedown", "1"]
        for part in (1, 2, 3, 4):
            place = [str(CORNER + (end - CORNER) * part // 4) for end in (x, y)]
            steps += ["sleep", "0.05", "mousemove", *place]
        # The target answers to the last move.
        steps += ["sleep", "0.15", "mousemove", str(x + 1), str(y + 1), "sleep", "0.15", "mouseup", "1"]
        subprocess.run(["xdotool", *steps], check=True, timeout=20)

    def begin(self, word, paths):
        self.end()
        words = ["/usr/bin/python3", __file__, word, *map(str, paths)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "done\n":
            raise SystemExit("no hand")

    def end(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


def main():
    uris = [GLib.filename_to_uri(path, None) for path in sys.argv[2:]]
    if sys.argv[1] == "copy":
        held = Gtk.Invisible()
        held.connect("selection-get", lambda _widget, data, _info, _time: data.set_uris(uris))
        Gtk.selection_add_target(held, Gdk.SELECTION_CLIPBOARD, Gdk.Atom.intern("text/uri-list", False), 0)
        Gtk.selection_owner_set(held, Gdk.SELECTION_CLIPBOARD, 0)
    else:
        window = Gtk.Window(type=Gtk.WindowType.POPUP)
        window.set_default_size(2 * CORNER, 2 * CORNER)
        window.move(0, 0)
        area = Gtk.EventBox()
        window.add(area)
        target = Gtk.TargetEntry.new("text/uri-list", 0, 0)
        area.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, [target], Gdk.DragAction.COPY)
        area.connect("drag-data-get", lambda _widget, _context, data, _info, _time: data.set_uris(uris))
        # A drag that fails has another end before.
        area.connect("drag-failed", lambda *_: print("failed", flush=True))
        area.connect("drag-end", lambda *_: (window.hide(), print("dropped", flush=True)))
        window.show_all()
        Gdk.Display.get_default().sync()
    # What is shown first.
    GLib.idle_add(lambda: print("done", flush=True), priority=GLib.PRIORITY_LOW)
    Gtk.main()


if __name__ == "__main__":
    main()
