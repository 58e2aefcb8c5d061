"""Search in names and messages by keyboard: a result opens its place, in the middle of the screen and focused; and the same over 1,000,000
messages, with the time from Return on a result to its row, as it is painted.

    stage PROGRAM million       ROWS=1000000 messages, TURNS=20 results
"""
import os
import re
import sqlite3
import statistics
import threading
import time

import keys
import painted
import person
import scroll
import tour

ROWS = int(os.environ.get("ROWS", "1000000"))
TURNS = int(os.environ.get("TURNS", "20"))
CONVERSATIONS = 500
#: Milliseconds from Return on a result to its row.
MOST = 100
ROW = """INSERT INTO message(account, direction, conversation, position, archive, stanza_id, message_id, sender, recipient, type, body, sent_at,
    received_at, shown) VALUES (1, 'in', ?1, ?2, '', ?3, ?3, ?1 || '/x', 'romeo@localhost', 'chat', ?4, ?5, ?5, 1)"""


class Place:
    """What is in the middle of the messages."""

    def __init__(self, me):
        self.me = me
        self.held = me.see("list", "Messages")
        self.kind = person.Atspi.CoordType.WINDOW

    def at(self, share):
        """The name of the row at this share of the height."""
        view = self.held.get_component_iface()
        # A list that was just shown has no size yet.
        box = view.get_extents(self.kind)
        # Beside the text: a screen reader passes by the labels of a row.
        node = view.get_accessible_at_point(box.x + 8, box.y + int(share * box.height), self.kind)
        while node is not None and node.get_role_name() not in ("list", "list item"):
            node = node.get_parent()
        if node is None or node.get_role_name() == "list":
            return ""
        node.clear_cache()
        return node.get_name() or ""

    def in_middle(self, text):
        return any(text in self.at(share) for share in (0.5, 0.4, 0.6, 0.45, 0.55, 0.35, 0.65))


class Searching(tour.Stage):
    def search(self, words):
        me = self.person
        me.key("ctrl+f")
        me.wait_focus("text|entry", "Search")
        me.type(words)

    def expect_middle(self, text):
        """The row is in the middle third, focused, and stays there while more is loaded."""
        me = self.person
        me.wait_focus("list item", f".*{re.escape(text)}.*")
        place = Place(me)
        me.wait(f"{text!r} in the middle", lambda: place.in_middle(text))
        time.sleep(1)
        if not place.in_middle(text):
            raise person.Lost(f"{text!r} does not stay in the middle: {[place.at(share / 10) for share in range(10)]}")
        name = me.focused().get_name()
        if text not in name:
            raise person.Lost(f"the focus is not on {text!r}, but on {name!r}")


class Search(Searching):
    def run(self):
        juliet, = self.begin("juliet")
        self.log_in()
        self.fill()
        self.start()
        me = self.person
        juliet.say("romeo@localhost", "The last of the holidays")
        me.wait_row("Conversations", r"juliet@localhost, .*The last of the holidays.*")
        self.names()
        self.result()
        self.around()
        self.others()
        me.end()
        self.warnings()

    def fill(self):
        """400 messages in each of two conversations: one of each has the word, in the middle and at the beginning."""
        database = sqlite3.connect(self.data + "/kalij.db")
        now = int(time.time() * 1000) - 1000 * 60_000
        with database:
            for place in range(800):
                jid = ("juliet@localhost", "nurse@localhost")[place % 2]
                more = {400: " with a holiday", 1: " and Holidays"}.get(place, "")
                database.execute(ROW, (jid, place - 100_000, f"s{place}", f"message {place:03}{more}", now + place * 60_000))
        database.close()

    def names(self):
        me = self.person
        self.search("nur")
        me.wait_row("Conversations", r"nurse@localhost, message 799.*")
        me.wait("only nurse", lambda: len(me.rows("Conversations")) == 1)
        me.key("Escape")
        me.wait("all again", lambda: len(me.rows("Conversations")) == 2)
        self.say("a name is found by its beginning")

    def result(self):
        me = self.person
        self.search("holi")
        me.wait_row("Conversations", r"nurse@localhost, message: .*and Holidays.*")
        rows = me.rows("Conversations")
        found = [re.search("last of|with a|and H", row)[0] for row in rows]
        if found != ["last of", "with a", "and H"]:
            raise person.Lost(f"not newest first: {rows}")
        me.key("Tab")
        me.wait_focus("list item", ".*The last of the holidays.*")
        me.key("Down")
        me.wait_focus("list item", r"juliet@localhost, message: message 400 with a holiday.*")
        me.key("Return")
        self.expect_middle("message 400 with a holiday")
        me.picture("search-result.png")
        self.say(f"a result opens its place, in the middle, spoken as {me.focused().get_name()!r}")

    def around(self):
        """Reading on from there, both ways."""
        me = self.person
        sight = scroll.Sight(me, r"message \d{3}")
        for key, is_there in (("Page_Up", lambda number: number <= 300), ("Page_Down", lambda number: number >= 500)):
            for _ in range(60):
                me.key(key)
                time.sleep(0.05)
                if any(is_there(number) for number in (int(word[8:]) for word in sight.now())):
                    break
            else:
                raise person.Lost(f"no way on by {key}: {sight.now()}{sight.why()}")
        self.say("the messages around load both ways")

    def others(self):
        """Back to the results, and to the oldest message of another conversation."""
        me = self.person
        me.key("Escape")
        me.wait_focus("list item", r"juliet@localhost, message: message 400.*")
        me.key("Down")
        me.wait_focus("list item", r"nurse@localhost, message: .*and Holidays.*")
        me.key("Return")
        # The first two messages of a conversation cannot be in its middle.
        me.wait_focus("list item", ".*message 001 and Holidays.*")
        me.key("Escape")
        me.wait_focus("list item", r"nurse@localhost, message: .*")
        me.key("Escape")
        me.wait("all conversations again", lambda: not any("message: " in row for row in me.rows("Conversations")))
        self.say("Escape returns to the results, then to the conversations")


class Million(Searching):
    def run(self):
        self.done = set()
        self.begin()
        self.log_in()
        begun = time.monotonic()
        fill(self.data + "/kalij.db")
        self.say(f"{ROWS} messages in {CONVERSATIONS} conversations after {time.monotonic() - begun:.0f} s")
        self.commands()
        self.beside_writer()
        # The ring around the focus fades in for 200 ms around a row that is in its place.
        folder = os.environ["XDG_CONFIG_HOME"] + "/gtk-4.0"
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/settings.ini", "w") as file:
            file.write("[Settings]\ngtk-enable-animations=0\n")
        self.start()
        self.person.wait_row("Conversations", r"person\d+@localhost, .*", 60)
        self.results()
        self.turns()
        self.person.end()
        self.warnings()

    def commands(self):
        """`kalij search`, from exec to exit, beside `kalij status`."""
        for words in (["status"], ["search", "nightingale"], ["search", "nigh"], ["search", "m"], ["search", "goes", "on"],
                      ["search", "--in", "person0007@localhost", "lif"], ["search", "--older-than", "500", "lon"]):
            times = []
            for _ in range(15):
                begun = time.monotonic()
                self.kalij(*words)
                times.append(1000 * (time.monotonic() - begun))
            times.sort()
            self.say(f"kalij {' '.join(words)}: median {times[7]:.0f} ms, at most {times[-1]:.0f}")

    def beside_writer(self):
        """Two processes search while another one writes."""
        database = sqlite3.connect(self.data + "/kalij.db", isolation_level=None, timeout=10)
        end, counts = time.monotonic() + 5, [0, 0]

        def search(number):
            while time.monotonic() < end:
                self.kalij("search", ("nightingale", "lif")[number])
                counts[number] += 1
        threads = [threading.Thread(target=search, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        written = 0
        while time.monotonic() < end:
            database.execute("BEGIN IMMEDIATE")
            for _ in range(50):
                written += 1
                database.execute(ROW, ("person0001@localhost", written, f"w{written}", f"written {written}", int(time.time() * 1000)))
            database.execute("COMMIT")
            time.sleep(0.01)
        for thread in threads:
            thread.join()
        database.close()
        if min(counts) < 3:
            raise person.Lost(f"searches beside a writer: {counts}")
        self.say(f"{counts[0]} and {counts[1]} searches of two processes beside a writer of {written} messages in 5 s")

    def results(self):
        me = self.person
        me.key("ctrl+f")
        me.wait_focus("text|entry", "Search")
        self.keys = keys.Keyboard()
        held = me.see("list", "Conversations")
        for key in "nigh":
            begun = self.keys.press(key)
        me.wait("results", lambda: held.get_child_count() and "nightingale" in held.get_child_at_index(0).get_name())
        self.say(f"{1000 * (time.monotonic() - begun):.0f} ms from the last letter to the results, as seen by the tree")

    def turns(self):
        me = self.person
        me.key("Tab")
        me.wait_focus("list item", ".*nightingale.*")
        times = []
        for turn in range(TURNS + 1):
            if turn:
                me.key("shift+F6")
                me.wait_focus("list item", ".*message: .*nightingale.*")
                me.key("Down")
            number = self.target()
            # The conversation has no place before the first one is shown.
            if turn:
                times.append(painted.Middle(me).painted(lambda: self.keys.press("Return")))
            else:
                self.keys.press("Return")
            self.expect_middle(number)
        me.picture("million.png")
        work = statistics.median(work for _, work in times)
        times = sorted(time for time, _ in times)
        self.say(f"from Return on a result to its row, painted in the middle: median {statistics.median(times):.0f} ms ({work:.0f} of CPU of "
                 f"the main thread), 90 % within {times[int(0.9 * len(times))]:.0f}, at most {times[-1]:.0f} ms, of {TURNS}")
        if statistics.median(times) > MOST:
            raise person.Lost(f"a result needs longer than {MOST} ms: {times}")

    def target(self):
        """The message of the focused result, another one than before."""
        def look():
            node = self.person.focused()
            found = node and re.search(r"message (\d+) of", node.get_name() or "")
            return found and found[0] not in self.done and found[0]
        number = self.person.wait("another result", look)
        self.done.add(number)
        return number


def fill(path):
    """`ROWS` messages and their index, as the driver would have made it after some minutes."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA synchronous = OFF")
    begin = int(time.time()) - ROWS - 1000
    names = [f"person{number:04}@localhost" for number in range(CONVERSATIONS)]
    scopes = [f"a1 c{fnv('1 ' + name):x}" for name in names]

    def text(place):
        # Not among the last of a conversation, which cannot be in the middle.
        bird = "nightingale's" if place % 997 == 0 and place < ROWS // 2 else "long"
        return f"message {place} of a {bird} life, which goes on and on"

    def key(place):
        return (begin + place) << 31 | place
    places = range(1, ROWS + 1)
    database.execute("BEGIN")
    database.executemany(
        "INSERT INTO message(id, account, direction, conversation, position, archive, stanza_id, message_id, sender, recipient, type, body,"
        " sent_at, received_at, shown) VALUES (?6, 1, 'in', ?1, ?2, '', ?3, ?3, ?1 || '/x', 'romeo@localhost', 'chat', ?4, ?5, ?5, 1)",
        ((names[place % CONVERSATIONS], place - 2 * ROWS, f"s{place}", text(place), (begin + place) * 1000, place) for place in places))
    database.executemany("INSERT INTO search_text(rowid, body, scope) VALUES (?, ?, ?)",
                         ((key(place), text(place), scopes[place % CONVERSATIONS]) for place in places))
    hashes = [signed(fnv("1 " + name)) for name in names]
    database.executemany("INSERT INTO search_row VALUES (?, ?, 1, ?)",
                         ((place, key(place), hashes[place % CONVERSATIONS]) for place in places))
    database.execute("UPDATE search_progress SET place = ?", (ROWS,))
    database.execute("COMMIT")
    database.close()


def fnv(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return value


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value
