"""Notifications of the desktop, and the process without a window: what comes is shown, one a conversation; replies and marks go back. Then the same
under kills of both processes.

    stage PROGRAM notices                  each of the three services
    stage PROGRAM notices-kills            KILLS=50 MESSAGES=200 PEOPLE=20 SERVICE=freedesktop|gtk|portal
    stage PROGRAM notices-idle             SECONDS=60: memory, wake-ups and start of the process without a window
"""
import collections
import os
import random
import signal
import sqlite3
import subprocess
import time

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

import desktop
import person
import server as servers
import tour

KINDS = ("freedesktop", "gtk", "portal")
BUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")


def application(data):
    """The application's id of a directory, as the app derives it."""
    number = 0xCBF29CE484222325
    for byte in data.encode():
        number = (number ^ byte) * 0x100000001B3 % 2**64
    digits = ""
    while number:
        digits, number = "0123456789abcdef"[number % 16] + digits, number // 16
    return "org.kalij.App.d" + digits


class Process:
    """A process that the tour has not started: D-Bus has, or another one has become it."""

    def __init__(self, pid):
        self.pid = pid
        self.returncode = None

    def poll(self):
        # A process that has ended and is not waited for yet has no program.
        return None if self.program else 0

    @property
    def program(self):
        try:
            return os.path.basename(os.readlink(f"/proc/{self.pid}/exe"))
        except OSError:
            return None

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)

    def terminate(self):
        os.kill(self.pid, signal.SIGTERM)

    def wait(self, timeout=20):
        end = time.monotonic() + timeout
        while self.program:
            if time.monotonic() > end:
                raise person.Lost(f"{self.pid} does not end")
            time.sleep(0.02)


class Stage(tour.Stage):
    def prepare(self, kind, *users):
        """A directory with an account, a desktop, and the file by which D-Bus starts the process without a window."""
        self.kind, self.data = kind, f"{self.stage}/{kind}"
        self.id = application(self.data)
        self.bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        services = os.environ["XDG_RUNTIME_DIR"] + "/dbus-1/services"
        os.makedirs(services, exist_ok=True)
        with open(f"{services}/{self.id}.service", "w") as file:
            file.write(f"[D-BUS Service]\nName={self.id}\nExec={self.background} --activated --data {self.data}\n")
        self.bus.call_sync(*BUS, "ReloadConfig", None, None, 0, -1)
        environment = {name: os.environ[name] for name in ("DISPLAY", "HOME", "XDG_CONFIG_HOME", "GDK_BACKEND", "GSK_RENDERER", "G_DEBUG")}
        environment |= {"GTK_A11Y": "atspi", "GTK_USE_PORTAL": "1" if kind == "portal" else "0"}
        os.environ["GTK_USE_PORTAL"] = environment["GTK_USE_PORTAL"]
        self.bus.call_sync(*BUS, "UpdateActivationEnvironment", GLib.Variant("(a{ss})", (environment,)), None, 0, -1)
        self.desktop = desktop.Desktop(kind, self.id)

    @property
    def background(self):
        return os.path.dirname(os.path.abspath(os.environ["KALIJ_APP"])) + "/kalij-app-background"

    def owner(self):
        """The process that has the application's name; None if there is none."""
        try:
            reply = self.bus.call_sync(*BUS, "GetConnectionUnixProcessID", GLib.Variant("(s)", (self.id,)), None, 0, -1)
            return Process(reply.unpack()[0])
        except GLib.Error:
            return None

    def start_background(self):
        log = open(self.stage + "/background.log", "ab")
        subprocess.Popen([os.environ["KALIJ_APP"], "--background", "--data", self.data], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        return self.until("the process without a window", self.without_window)

    def without_window(self):
        found = self.owner()
        return found if found and found.program == "kalij-app-background" else None

    def with_window(self):
        found = self.owner()
        return found if found and found.program == "kalij-app" else None

    def until(self, what, look, seconds=20):
        end = time.monotonic() + seconds
        while True:
            found = look()
            if found:
                return found
            if time.monotonic() > end:
                owner = self.owner()
                raise person.Lost(f"not within {seconds} s: {what}; the desktop shows {self.desktop.shown()}; the outbox is "
                                  f"{self.rows('SELECT * FROM notification')}; {owner and owner.program} has the name")
            time.sleep(0.03)

    def shows(self, **bodies):
        """Waits until the desktop shows exactly these: body by person."""
        def look():
            return sorted((n["title"].split("@")[0], n["body"]) for n in self.desktop.shown().values()) == sorted(bodies.items())
        self.until(f"notifications {bodies}", look)

    def key_of(self, name):
        return next(key for key, n in self.desktop.shown().items() if n["title"].startswith(name + "@"))

    def rows(self, query, *values):
        database = sqlite3.connect(f"file:{self.data}/kalij.db?mode=ro", uri=True)
        try:
            return database.execute(query, values).fetchall()
        finally:
            database.close()


class Notices(Stage):
    def run(self):
        self.juliet, self.mercutio = self.begin("juliet", "mercutio")
        for kind in os.environ.get("SERVICE", " ".join(KINDS)).split():
            self.prepare(kind)
            try:
                self.served()
            finally:
                self.desktop.end()
        self.warnings()

    def served(self):
        me = self.person
        self.log_in()
        self.start()
        me.see("label", "No conversations yet|No conversation is open")
        self.close_window()
        self.juliet.say("romeo@localhost", "Good night")
        self.shows(juliet="Good night")
        self.juliet.say("romeo@localhost", "Parting & <sweet> sorrow")
        self.shows(juliet=self.as_markup("Parting & <sweet> sorrow"))
        self.mercutio.say("romeo@localhost", "A plague")
        self.shows(juliet=self.as_markup("Parting & <sweet> sorrow"), mercutio="A plague")
        self.say(f"{self.kind}: one notification a conversation, replaced by the next message")
        self.without_window().kill()
        self.start_background()
        self.juliet.say("romeo@localhost", "Anon")
        self.shows(juliet="Anon", mercutio="A plague")
        self.say("killed and started: the same notification is replaced")
        self.desktop.act(self.key_of("mercutio"), "mark-as-read")
        self.shows(juliet="Anon")
        self.say("marked as read: withdrawn")
        self.reply()
        self.visible()
        self.person.key("ctrl+q")
        self.until("the end of the app", lambda: not self.owner())
        self.say("Ctrl+Q ends the app")

    def as_markup(self, text):
        if self.kind != "freedesktop":
            return text
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    def close_window(self):
        """Closing asks once; then the same process goes on without a window."""
        me = self.person
        pid = me.program.pid
        me.key("alt+F4")
        me.see("push button", "Go on receiving")
        me.picture("go-on.png")
        me.press("Go on receiving")
        found = self.until("the process without a window", self.without_window)
        if found.pid != pid:
            raise person.Lost("another process has the name")
        started = f"{os.environ['XDG_CONFIG_HOME']}/autostart/{self.id}.desktop"
        if self.kind != "portal" and "--background" not in open(started).read():
            raise person.Lost("no autostart")
        self.say("the window is closed: the process goes on without it, and starts at the next login")

    def reply(self):
        if self.kind == "freedesktop":
            self.desktop.act(self.key_of("juliet"), "inline-reply", "Written in the notification")
            self.juliet.wait_for("Written in the notification")
            self.shows()
            self.say("a reply in the notification has arrived")
            self.juliet.say("romeo@localhost", "Come again")
            self.shows(juliet="Come again")
            self.desktop.act(self.key_of("juliet"), "default")
        else:
            self.without_window().kill()
            self.until("the end", lambda: not self.owner())
            self.desktop.act(self.key_of("juliet"), "open-conversation")
        self.person.program = self.until("the window", self.with_window)
        me = self.person
        me.app = me.wait("the app", me.find_app)
        me.wait_focus("text", person.MESSAGE)
        self.shows()
        me.type(f"From the window after {self.kind}")
        me.key("Return")
        self.juliet.wait_for(f"From the window after {self.kind}")
        self.say("a notification has opened the window at its conversation, and is withdrawn")

    def visible(self):
        """What is visible in the focused window is not notified of; another conversation is."""
        me = self.person
        before = self.desktop.shown()
        self.juliet.say("romeo@localhost", "Do you see this")
        me.wait_row("Messages", ".*: Do you see this")
        self.mercutio.say("romeo@localhost", "And this")
        self.shows(mercutio="And this")
        if before:
            raise person.Lost(f"left over: {before}")
        self.desktop.act(self.key_of("mercutio"), "mark-as-read")
        self.shows()
        self.say("nothing for the visible conversation; marked as read with the window open")


class Kills(Stage):
    """MESSAGES messages of PEOPLE people while both processes are killed; a person replies and marks as read."""

    def run(self):
        self.kills = int(os.environ.get("KILLS", "50"))
        messages, people = int(os.environ.get("MESSAGES", "200")), int(os.environ.get("PEOPLE", "20"))
        self.random = random.Random(int(os.environ.get("SEED", "41")))
        self.people = self.begin(*[f"person{n:02}" for n in range(people)])
        self.prepare(os.environ.get("SERVICE", KINDS[0]))
        self.log_in()
        with open(self.data + "/app.background", "w") as file:
            file.write("yes\n")
        self.sent, self.replies, self.figures = collections.defaultdict(list), [], collections.Counter()
        plan = sorted(self.random.sample(range(messages), min(self.kills, messages)))
        self.current = self.start_background()
        try:
            for number in range(messages):
                self.message(number)
                if number in plan:
                    self.killed()
                if self.random.random() < 0.2:
                    self.use()
            self.judge()
        finally:
            self.desktop.end()
            if self.owner():
                self.owner().kill()

    def message(self, number):
        sender = self.random.randrange(len(self.people))
        body = f"message {number:04}"
        self.sent[sender].append(body)
        self.people[sender].say("romeo@localhost", body)
        time.sleep(self.random.random() * 0.2)

    def killed(self):
        time.sleep(self.random.random() * 0.1)
        self.current.kill()
        self.current.wait()
        self.figures["kills of " + ("the app" if self.windowed else "the background")] += 1
        if self.random.random() < 0.3:
            self.start()
            self.current = self.person.program
        else:
            self.start_background()
            self.current = self.owner()

    @property
    def windowed(self):
        return getattr(self.current, "program", "kalij-app") == "kalij-app"

    def use(self):
        """Marks one as read, or replies."""
        shown = self.desktop.shown()
        if not shown:
            return
        key = self.random.choice(sorted(shown))
        if self.kind == "freedesktop" and self.random.random() < 0.5:
            text = f"reply {len(self.replies):04}"
            self.replies.append(text)
            for _ in range(2):  # a person who presses twice
                self.desktop.act(key, "inline-reply", text)
            self.figures["replies"] += 1
        else:
            self.desktop.act(key, "mark-as-read")
            self.figures["marks"] += 1

    def expected(self):
        """The newest message of each conversation of which the user is notified."""
        return {jid: body for jid, body in self.rows(
            "SELECT n.conversation, m.body FROM notification n JOIN message m ON m.id = n.message WHERE n.kind = 'show' AND n.id = "
            "(SELECT max(id) FROM notification WHERE conversation = n.conversation AND kind = 'show')")}

    def unread(self):
        """What the engine counts as unread, by the command."""
        import json
        lines = [json.loads(line) for line in self.kalij("--json", "chats").splitlines()]
        return {line["conversation"] for line in lines if line.get("unread")}

    def judge(self):
        total = sum(map(len, self.sent.values()))
        arrived = "SELECT count(*) FROM message WHERE direction = 'in' AND body LIKE 'message %'"
        self.until("all messages", lambda: self.rows(arrived)[0][0] == total, 60)
        self.until("all presented", lambda: self.rows("SELECT count(*) FROM notification WHERE done = 0")[0][0] == 0, 60)
        time.sleep(1)
        expected, shown = self.expected(), self.desktop.shown()
        titles = collections.Counter(n["title"] for n in shown.values())
        bodies = {n["title"]: n["body"] for n in shown.values()}
        missing = {jid: body for jid, body in expected.items() if bodies.get(jid) != body}
        left = {title: count for title, count in titles.items() if title not in expected or count > 1}
        unread = self.unread()
        received = collections.Counter(text for other in self.people for text in other.received if text.startswith("reply"))
        stored = {body for body, in self.rows("SELECT body FROM message WHERE direction = 'out' AND body LIKE 'reply %'")}
        twice = {text: count for text, count in received.items() if count > 1}
        lost = stored - set(received)
        self.say(f"{total} messages in {len(self.people)} conversations, {dict(self.figures)}")
        self.say(f"{len(expected)} notifications expected, {len(shown)} shown: {len(missing)} missing, {len(left)} left over")
        self.say(f"{len(stored)} of {len(self.replies)} replies accepted: {len(lost)} lost, {len(twice)} twice at the recipient")
        if unread != set(expected):
            raise person.Lost(f"unread: {unread ^ set(expected)}")
        if missing or left or twice or lost:
            raise person.Lost(f"missing {missing}; left over {left}; lost {lost}; twice {twice}")


class Idle(Stage):
    """What the process without a window takes: two accounts, online, idle."""

    SECONDS = int(os.environ.get("SECONDS", "60"))
    MEMORY, WAKEUPS = 8.0, 2.0

    def run(self):
        juliet, self.mercutio = self.begin("juliet", "mercutio")
        self.prepare(KINDS[0])
        for user in ("romeo", "mercutio"):
            self.log_in(user)
        starts = []
        for turn in range(5):
            if turn:
                found.kill()
                found.wait()
            begun = time.monotonic()
            found = self.start_background()
            starts.append(1000 * (time.monotonic() - begun))
            time.sleep(1)
        juliet.say("romeo@localhost", *[f"message {n}" for n in range(20)])
        self.shows(juliet="message 19")
        time.sleep(5)
        before, begun = self.switches(found), time.monotonic()
        time.sleep(self.SECONDS)
        after = self.switches(found)
        rate = {name: (count - before.get(name, 0)) / (time.monotonic() - begun) for name, count in after.items()}
        memory = self.memory(found)
        self.desktop.end()
        found.kill()
        self.say(f"from the start to the application's name: {sorted(starts)[2]:.0f} ms in the middle, {max(starts):.0f} ms at most")
        self.say(f"private memory {memory:.1f} MB; {sum(rate.values()):.2f} wake-ups a second: " + ", ".join(
            f"{name} {count:.2f}" for name, count in rate.items() if count))
        if memory > self.MEMORY or sum(rate.values()) > self.WAKEUPS:
            raise person.Lost("more than the target")

    def memory(self, process):
        for line in open(f"/proc/{process.pid}/status"):
            if line.startswith("RssAnon"):
                return int(line.split()[1]) / 1024

    def switches(self, process):
        """How often each thread has woken up until now."""
        found = {}
        for thread in os.listdir(f"/proc/{process.pid}/task"):
            fields = dict(line.split(":", 1) for line in open(f"/proc/{process.pid}/task/{thread}/status"))
            found[f"{fields['Name'].strip()} {thread}"] = int(fields["voluntary_ctxt_switches"])
        return found
