"""The tour of the first part of the app: log in (a wrong password first), list, conversation, writing, an answer, scrolling up, a kill,
and everything is there again. By keyboard; and by a screen reader's means where the keyboard is not the question."""
import os
import re
import subprocess
import sys
import time

import person
import server as servers

CLASS_NAMES = re.compile(r"(Adw|Gtk|Gdk)[A-Z]\w+")
#: How many messages there are to scroll through.
MANY = 400


class Stage:
    """A server, another person, and a directory."""

    def __init__(self):
        self.stage = os.environ["STAGE"]
        self.data = self.stage + "/data"
        self.server = servers.server(self.stage)
        self.person = person.Person()
        self.began = time.monotonic()

    def say(self, words):
        print(f"{time.monotonic() - self.began:6.2f} s  {words}", flush=True)

    def start(self, **environment):
        trust = {"SSL_CERT_FILE": str(self.server.certificate)}
        self.person.start("--data", self.data, environment=trust | environment)

    def begin(self, *users):
        self.server.start()
        for user in ("romeo", *users):
            self.server.register(user, "secret-" + user)
        return [servers.OtherPerson(self.server, user, "secret-" + user) for user in users]

    def kalij(self, *words, **options):
        """Runs the command on the same directory."""
        return subprocess.run([os.environ["KALIJ_BINARY"], "--data", self.data, *words], check=True, timeout=60, capture_output=True,
                              text=True, **options).stdout

    def log_in(self, user="romeo", port=None):
        server = f"localhost:{port or self.server.port}"
        self.kalij("login", user + "@localhost", "--server", server, "--ca", str(self.server.certificate),
                   env=os.environ | {"KALIJ_PASSWORD": "secret-" + user})

    def open(self, name):
        """Opens the conversation whose row begins with `name`."""
        me = self.person
        me.select("Conversations", name + ".*")
        me.wait_focus("list item", ".*")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)

    def back(self):
        """To the conversation, from a screen above that of the contact, too."""
        me = self.person
        for _ in range(4):
            me.key("Escape")
            time.sleep(0.5)
            if me.sees("list", "Messages"):
                return
        raise person.Lost("Escape does not return\n" + me.tree())

    def drive(self):
        """`kalij run`, until it is killed."""
        log = open(self.stage + "/kalij.log", "ab")
        driver = subprocess.Popen([os.environ["KALIJ_BINARY"], "--data", self.data, "run"], stdout=log, stderr=log,
                                  stdin=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while "online" not in open(self.stage + "/kalij.log").read():
            if time.monotonic() > end or driver.poll() is not None:
                raise person.Lost("kalij run is not online: " + open(self.stage + "/kalij.log").read())
            time.sleep(0.02)
        return driver

    def enter_wrong_password(self):
        """At the first start, by a screen reader's means."""
        me = self.person
        me.enter("Address", "romeo@localhost")
        me.enter("Password", "wrong")
        me.enter("Server", f"localhost:{self.server.port}")
        me.press("Log in")
        me.see("label", ".*address or the password is wrong.*")
        self.say("a wrong password is said in words")

    def enter_password(self):
        me = self.person
        me.enter("Password", "secret-romeo")
        me.press("Log in")
        me.see("label", "No conversations yet")
        self.say("logged in")

    def cpu(self):
        """Milliseconds of CPU of the app until now."""
        fields = open(f"/proc/{self.person.program.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 10

    def warnings(self):
        said = [line for line in open(self.person.log, errors="replace") if re.search(r"CRITICAL|WARNING", line)]
        if said:
            raise person.Lost("GLib warns: " + "".join(said[:10]))
        self.say("no warning of GLib")


class Tour(Stage):
    def run(self):
        self.juliet, = self.begin("juliet")
        self.first_start()
        self.first_message()
        self.names()
        self.answers()
        self.scroll_up()
        self.killed()
        self.second_start()
        self.offline()
        self.person.end()
        self.warnings()

    def first_start(self):
        self.start()
        me = self.person
        me.see("frame", "Kalij")
        self.say("the first start is there")
        me.picture("first-start.png")
        self.enter_wrong_password()
        me.picture("wrong-password.png")
        me.enter("Server", "localhost:1")
        me.press("Log in")
        me.see("label", ".*does not answer.*")
        self.say("a server that does not answer is said in words")
        me.enter("Server", f"localhost:{self.server.port}")
        self.enter_password()

    def first_message(self):
        me = self.person
        me.key("ctrl+n")
        me.wait_focus("text|entry", "Name or address")
        self.names()
        me.type("juliet@localhost")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)
        me.type("Good night, good night!")
        begun = time.monotonic()
        me.key("Return")
        me.wait_row("Messages", r"You, \d\d:\d\d: Good night, good night! (Sent|Delivered|Read)")
        self.say(f"sent; {1000 * (time.monotonic() - begun):.0f} ms from the key to \"Sent\", as seen by the tree")
        self.juliet.wait_for("Good night, good night!")
        self.juliet.say("romeo@localhost", "Parting is such sweet sorrow")
        me.wait_row("Messages", r"juliet@localhost, \d\d:\d\d: Parting is such sweet sorrow")
        me.wait_row("Conversations", r"juliet@localhost, Parting is such sweet sorrow, .*")
        self.say("the answer is there, in both lists")

    def names(self):
        """Everything that can have the focus has a name; no name is a class or the role."""
        me = self.person
        bad = []
        for node, _ in person.all_of(me.app):
            name, role = node.get_name() or "", node.get_role_name()
            held = person.states(node)
            if CLASS_NAMES.fullmatch(name):
                bad.append(f"{role} is called {name}")
            if "FOCUSABLE" in held and not name:
                bad.append(f"{role} without a name")
        open(self.stage + "/tree.log", "w").write(me.tree())
        if bad:
            raise person.Lost("names: " + "; ".join(sorted(set(bad))) + "\n" + me.tree())
        self.say("every name is a name")

    def answers(self):
        me = self.person
        me.key("F6")
        self.juliet.say("romeo@localhost", *[f"line {n} of a long evening" for n in range(MANY)])
        me.wait_row("Messages", rf"juliet@localhost, \d\d:\d\d: line {MANY - 1} of a long evening", 60)
        self.say(f"{MANY} messages have come")
        me.picture("conversation.png")

    def scroll_up(self):
        me = self.person
        me.wait_row("Messages", ".*line 399.*")
        self.focus_messages()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            me.key("Page_Up", "Page_Up", "Page_Up")
            if any("Good night, good night!" in row for row in me.rows("Messages")[:6]):
                break
        else:
            raise person.Lost("the first message cannot be reached")
        self.say(f"scrolled up through {MANY} messages; {len(me.rows('Messages'))} rows are held")
        if len(me.rows("Messages")) > 310:
            raise person.Lost("too many rows are held")

    def focus_messages(self):
        """F6 goes round the regions until the messages have the focus."""
        me = self.person
        for _ in range(6):
            node = me.focused()
            while node is not None:
                if node.get_role_name() == "list" and node.get_name() == "Messages":
                    return
                if node.get_role_name() == "application":
                    break
                node = node.get_parent()
            me.key("F6")
            time.sleep(0.2)
        raise person.Lost("the messages do not get the focus\n" + me.tree())

    def killed(self):
        me = self.person
        me.key("Escape")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)
        me.type("I would I were thy bird")
        time.sleep(0.5)  # what the app has to keep a draft
        me.kill()
        self.say("killed")
        self.start()
        text = me.wait("the draft", lambda: next((n for n in me.fields(person.MESSAGE)
                                                  if me.text(n) == "I would I were thy bird"), None))
        self.say("the draft is there again, and the conversation")
        me.wait_row("Messages", ".*Good night, good night!.*")
        self.say("and the place: the oldest message is in sight")
        me.picture("after-kill.png")
        me.wait_focus("text", person.MESSAGE)
        me.key("Return")
        self.juliet.wait_for("I would I were thy bird")
        me.wait("an empty composer", lambda: me.text(text) == "")
        self.say("sent after the kill")

    def second_start(self):
        """A second start ends at once, and shows the first one's window."""
        again = subprocess.run([os.environ["KALIJ_APP"], "--data", self.data], timeout=20)
        if again.returncode != 0 or self.person.program.poll() is not None:
            raise person.Lost(f"the second start ended with {again.returncode}")
        self.say("a second start shows the first one's window")

    def offline(self):
        me = self.person
        self.server.stop()
        me.see("label", "Offline since .*", 60)
        me.wait_focus("text", person.MESSAGE)
        me.type("Sweet, so would I")
        me.key("Return")
        me.wait_row("Messages", r"You, \d\d:\d\d: Sweet, so would I\. Waiting: no connection")
        self.say("offline: a message waits")
        me.picture("offline.png")
        me.press("Try now")
        self.server.start()
        me.wait_row("Messages", r"You, \d\d:\d\d: Sweet, so would I\. (Sent|Delivered|Read)", 60)
        me.gone("label", "Offline since .*")
        self.say("online again: the message is sent")


class Together(Stage):
    """The app beside `kalij run` on one directory: it reads, accepts by the mailbox, and takes over when that one is killed."""

    def run(self):
        juliet, = self.begin("juliet")
        self.log_in()
        driver = self.drive()
        try:
            self.beside(juliet, driver)
        finally:
            driver.kill()
            driver.wait()
        self.person.end()
        self.warnings()

    def beside(self, juliet, driver):
        me = self.person
        self.kalij("add", "juliet@localhost", "--name", "Juliet <b>Capulet</b> \u202eX & Co")
        self.kalij("send", "juliet@localhost", "Good morrow")
        self.start()
        me.see("label", "Another program keeps your accounts online")
        me.wait_row("Conversations", r"Juliet <b>Capulet</b> X & Co, You: Good morrow, .*")
        self.say("a name with markup and a turned direction is a name")
        me.select("Conversations", "Juliet <b>.*")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)
        me.type("By the mailbox")
        me.key("Return")
        juliet.wait_for("By the mailbox")
        me.wait_row("Messages", r"You, \d\d:\d\d: By the mailbox\. (Sent|Delivered)")
        self.say("written while another process drives")
        self.refused(juliet)
        driver.kill()
        begun = time.monotonic()
        me.gone("label", "Another program.*")
        self.say(f"the other is killed; the app drives after {1000 * (time.monotonic() - begun):.0f} ms, as seen by the tree")
        juliet.say("romeo@localhost", "To thee")
        me.wait_row("Messages", r"Juliet <b>.*, \d\d:\d\d: To thee")
        self.say("and receives")
        self.hostile(juliet)

    def refused(self, juliet):
        """The driver refuses a correction, which is too long to be sent: the app says so, and gives the text back."""
        me = self.person
        field = lambda: next(me.fields(person.MESSAGE))
        long = "By the mailbox " + "x" * 70_000
        me.key("Up")
        me.see("label", "Correct the message: By the mailbox")
        person.Atspi.EditableText.set_text_contents(field(), long)
        me.wait("the long text", lambda: len(me.text(field())) == len(long))
        me.wait_focus("text", person.MESSAGE)
        me.key("Return")
        me.see("label", "Not accepted: .*")
        me.wait("the text again", lambda: me.text(field()) == long)
        person.Atspi.EditableText.set_text_contents(field(), "")
        me.wait("an empty field", lambda: me.text(field()) == "")
        self.say("what the other process refuses is said, and the text is given back")

    def hostile(self, juliet):
        me = self.person
        before = self.cpu()
        juliet.say("romeo@localhost", "<b>bold</b> & <script>", "\u202eevil\u2066 direction", "\U0001F469\u200D\U0001F680" * 10000,
                   "x" * 200_000, "\n" * 5000 + "end", "after all that")
        me.wait_row("Messages", ".*: after all that")
        self.say(f"hostile texts have come after {self.cpu() - before} ms of CPU")
        rows = me.rows("Messages")
        if not any(row.endswith(": <b>bold</b> & <script>") for row in rows):
            raise person.Lost("markup is not shown as it is: " + repr(rows))
        if any("\u202e" in row or "\u2066" in row for row in rows):
            raise person.Lost("a text turns the direction of the row")
        if len([row for row in rows if "only its beginning is shown" in row]) < 2:
            raise person.Lost("long messages are not cut")
        if max(map(len, rows)) > 10_000:
            raise person.Lost("a row is too long")
        me.picture("hostile.png")
        self.say("hostile texts are texts")


TOURS = {"tour": Tour, "together": Together}


def run(kind):
    stage = kind()
    try:
        stage.run()
    except (person.Lost, subprocess.SubprocessError) as error:
        try:
            stage.person.picture("failed.png")
            open(stage.stage + "/tree.log", "w").write(stage.person.tree())
        except Exception:
            pass
        detail = getattr(error, "stderr", "") or ""
        sys.exit(f"FAILED: {error}\n{detail}")
    finally:
        if stage.person.program and stage.person.program.poll() is None:
            stage.person.program.kill()
        stage.server.stop()


if __name__ == "__main__":
    top = os.environ["STAGE"]
    sys.modules["tour"] = sys.modules["__main__"]
    import accounts
    import actions
    import bombs
    import days
    import dino
    import disk
    import everyday
    import everyday_dino
    import filekills
    import files
    import flood
    import groupchanges
    import groupkills
    import groups
    import groups_heard
    import groups_others
    import groups_pictures
    import heard
    import hostile
    import kills
    import links
    import listing
    import many
    import notices
    import full
    import older
    import parts
    import people
    import pictures
    import registrar
    import scroll
    import search
    import seen
    import sensitive
    import shared
    import states
    import targets
    import trust
    import whole
    TOURS["groups"] = groups.Groups
    TOURS["groups-many"] = groups.Many
    TOURS["groups-heard"] = groups_heard.GroupsHeard
    TOURS["groups-others"] = groups_others.Others
    TOURS["groups-people"] = people.People
    TOURS["groups-changes"] = groupchanges.Changes
    TOURS["groups-hostile"] = hostile.Hostile
    TOURS["groups-kills"] = groupkills.Kills
    TOURS["heard"] = heard.Heard
    TOURS["notices"] = notices.Notices
    TOURS["search"] = search.Search
    TOURS["older"] = older.Older
    TOURS["full"] = full.Full
    wanted = sys.argv[1:] or list(TOURS)
    TOURS |= {"accounts": accounts.Accounts, "accounts-hostile": registrar.Hostile, "disk": disk.Disk, "parts": parts.Parts, "actions": actions.Actions, "trust": trust.Trust, "whole-keys": whole.Keys, "whole-reader": whole.Reader, "sensitive": sensitive.Sensitive, "seen": seen.Seen, "pictures": pictures.Pictures, "groups-pictures": groups_pictures.GroupsPictures, "many": many.Many, "million": search.Million, "targets": targets.Targets, "flood": flood.Flood, "texts": flood.Texts, "arrivals": flood.Arrivals, "kills": kills.Kills, "days": days.Days, "shared": shared.Shared, "files": files.Files, "links": links.Links, "listing": listing.Listing, "bombs": bombs.stage(), "files-kills": filekills.FilesKills, "states": states.States,
              "upwards": scroll.Upwards, "reader": scroll.Reader, "beside": dino.Beside, "everyday": everyday.Everyday, "dino-everyday": everyday_dino.EverydayDino, "notices-kills": notices.Kills, "notices-idle": notices.Idle}
    for number, name in enumerate(wanted):
        print(f"--- {name}", flush=True)
        # Prosody 13 does not read a configuration whose path is long.
        os.environ["STAGE"] = f"{top}/{number}"
        os.mkdir(os.environ["STAGE"])
        run(TOURS[name])
    print("All tours are done.")
