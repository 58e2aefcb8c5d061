"""A person at the screen, who knows roles and names alone: what a screen reader tells, and keys."""
import ctypes
import os
import re
import subprocess
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

PATIENCE = 20.0
#: The name of the field of a message: to whom, or what it replies to or corrects.
MESSAGE = "(Message to|Reply to|Correct the message:) .*"
CLONE_NEWNS = 0x00020000


class Lost(Exception):
    """What should be there is not."""


def all_of(node, depth=0):
    """The node and everything below, as far as it can be read and is not hidden. GTK 4.8 has the state `showing` for windows alone."""
    if depth > 1 and not node.get_state_set().contains(Atspi.StateType.VISIBLE):
        return
    yield node, depth
    try:
        count = node.get_child_count()
    except Exception:
        return
    for place in range(min(count, 400)):
        try:
            child = node.get_child_at_index(place)
        except Exception:
            continue
        if child is not None:
            yield from all_of(child, depth + 1)


def states(node):
    held = node.get_state_set()
    return {name for name in ("FOCUSED", "FOCUSABLE", "SELECTED", "SENSITIVE") if
            held.contains(getattr(Atspi.StateType, name))}


def unshare(more=0):
    """Mounts are seen by this process and its children alone, and go with them."""
    libc = ctypes.CDLL(None, use_errno=True)  # `os.unshare` comes with Python 3.12
    if libc.unshare(CLONE_NEWNS | more):
        raise Lost("no namespaces: " + os.strerror(ctypes.get_errno()))
    subprocess.run(["mount", "--make-rprivate", "/"], check=True, timeout=20)


class Person:
    def __init__(self, name="kalij-app"):
        self.name = name
        self.program = None

    # The program

    def start(self, *words, environment=None, log="app.log"):
        path = os.path.join(os.environ["STAGE"], log)
        self.log = path
        self.program = subprocess.Popen([os.environ["KALIJ_APP"], *words], env=os.environ | (environment or {}),
                                        stdout=open(path, "ab"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.app = self.wait("the app", self.find_app)
        return self

    def find_app(self):
        desktop = Atspi.get_desktop(0)
        for place in range(desktop.get_child_count()):
            app = desktop.get_child_at_index(place)
            try:
                if app and app.get_process_id() == self.program.pid and app.get_name() == self.name:
                    return app
            except Exception:
                continue
        return None

    def kill(self):
        self.program.kill()
        self.program.wait(timeout=20)

    def end(self):
        self.program.terminate()
        return self.program.wait(timeout=20)

    # Looking

    def wait(self, what, look, seconds=PATIENCE):
        """Waits until `look` finds something. The tree has no events for all that is asked, so it is read again and again."""
        end = time.monotonic() + seconds
        while True:
            if self.program.poll() is not None:
                raise Lost(f"the app has ended with {self.program.returncode} before: {what}\n{open(self.log).read()[-3000:]}")
            try:
                found = look()
            except Exception as error:  # a node that has gone while it was read
                if isinstance(error, Lost):
                    raise
                found = None
            if found:
                return found
            if time.monotonic() > end:
                raise Lost(f"not within {seconds} s: {what}\n{self.tree()}")
            time.sleep(0.03)

    def nodes(self, role=None, name=None):
        for node, _ in all_of(self.app):
            try:
                if role and not re.fullmatch(role, node.get_role_name()):
                    continue
                if name is not None and not re.fullmatch(name, node.get_name() or "", re.S):
                    continue
                yield node
            except Exception:
                continue

    def see(self, role, name, seconds=PATIENCE):
        """Waits for a node with this role whose whole name is the regular expression `name`."""
        return self.wait(f"{role} {name!r}", lambda: next(self.nodes(role, name), None), seconds)

    def sees(self, role, name):
        return next(self.nodes(role, name), None) is not None

    def gone(self, role, name, seconds=PATIENCE):
        return self.wait(f"no {role} {name!r}", lambda: not self.sees(role, name), seconds)

    def rows(self, list_name):
        """The names of a list's rows, in order."""
        held = self.see("list", re.escape(list_name))
        names = []
        for place in range(held.get_child_count()):
            child = held.get_child_at_index(place)
            if child is not None:
                names.append(child.get_name())
        return names

    def wait_row(self, list_name, name, seconds=PATIENCE):
        def look():
            return next((row for row in self.rows(list_name) if re.fullmatch(name, row, re.S)), None)
        return self.wait(f"a row {name!r} in {list_name}", look, seconds)

    def focused(self):
        return next((node for node, _ in all_of(self.app) if "FOCUSED" in states(node)), None)

    def wait_focus(self, role, name):
        def look():
            node = self.focused()
            return node if node and re.fullmatch(role, node.get_role_name()) and re.fullmatch(name, node.get_name() or "") else None
        return self.wait(f"focus on {role} {name!r}", look)

    def text(self, node):
        return Atspi.Text.get_text(node, 0, Atspi.Text.get_character_count(node))

    def hides(self, secret):
        """No field of a password gives a screen reader a part of the secret, however it asks, while the field hides it."""
        fields = list(self.nodes("password text"))
        if not fields:
            raise Lost("no field of a password")
        for node in fields:
            count = Atspi.Text.get_character_count(node)
            given = [Atspi.Text.get_text(node, 0, count), Atspi.Text.get_text(node, 0, -1)]
            for place in range(count):
                given += [Atspi.Text.get_text(node, place, place + 1), chr(Atspi.Text.get_character_at_offset(node, place))]
                for size in (Atspi.TextGranularity.CHAR, Atspi.TextGranularity.WORD, Atspi.TextGranularity.LINE):
                    given.append(Atspi.Text.get_string_at_offset(node, place, size).content)
                for size in (Atspi.TextBoundaryType.CHAR, Atspi.TextBoundaryType.WORD_START, Atspi.TextBoundaryType.LINE_START):
                    given.append(Atspi.Text.get_text_at_offset(node, place, size).content)
            if letters := set("".join(given)) & set(secret):
                raise Lost(f"the field {node.get_name()!r} gives {letters} of the password")
        if not any(Atspi.Text.get_character_count(node) == len(secret) for node in fields):
            raise Lost("the password is not in its field")

    def tree(self):
        lines = []
        for node, depth in all_of(self.app):
            try:
                lines.append("  " * depth + f"{node.get_role_name()} {node.get_name()!r} {' '.join(sorted(states(node)))}")
            except Exception:
                lines.append("  " * depth + "?")
        return "\n".join(lines)

    # Hands

    def key(self, *keys):
        subprocess.run(["xdotool", "key", "--clearmodifiers", *keys], check=True, timeout=20)

    def type(self, text):
        subprocess.run(["xdotool", "type", "--clearmodifiers", "--delay", "15", text], check=True, timeout=60)

    def press(self, name, role="push button"):
        """Presses a button as a screen reader does."""
        # A button that is not sensitive yet refuses.
        self.wait(f"a press of {name}", lambda: any(Atspi.Action.do_action(node, 0) for node in self.nodes(role, name)))

    def choose(self, item):
        """Chooses an item of an open menu as a screen reader does."""
        self.see("menu item", item)
        self.press(item, "menu item")
        self.gone("menu item", item)

    def enter(self, name, text):
        """Sets a field as a screen reader does."""
        node = self.wait(f"field {name}", lambda: next(self.fields(name), None))
        Atspi.EditableText.set_text_contents(node, text)

    def fields(self, name):
        for role in ("text", "entry", "password text"):
            yield from self.nodes(role, name)

    def select(self, list_name, name):
        """Selects a row as a screen reader does."""
        held = self.see("list", re.escape(list_name))

        def look():
            for place in range(held.get_child_count()):
                row = held.get_child_at_index(place)
                if row is not None and re.fullmatch(name, row.get_name() or "", re.S):
                    return Atspi.Selection.select_child(held, place)
            return False
        self.wait(f"row {name!r}", look)

    def picture(self, name):
        subprocess.run(["scrot", "--overwrite", os.path.join(os.environ["STAGE"], name)], check=True, timeout=20)
