"""The whole tour by a screen reader's means alone, with Return where GTK 4.8 has no action; and reading 2,000 messages upwards."""
import os
import re
import sqlite3
import time

import keys
import person
import tour

MANY = 2000
ROW = """INSERT INTO message(account, direction, conversation, position, archive, stanza_id, message_id, sender, recipient, type, body, sent_at,
    received_at, shown) VALUES (1, 'in', 'juliet@localhost', ?1, '', ?2, ?2, 'juliet@localhost/x', 'romeo@localhost', 'chat', ?3, ?4, ?4, 1)"""


class Sight:
    """What is in sight in the messages, by what is at points: rows out of sight keep old places in GTK 4.8."""

    def __init__(self, me, pattern):
        self.me, self.pattern = me, re.compile(pattern)

    def now(self, least=None):
        """:param least: how many points of height are enough once something is found."""
        held = next(self.me.nodes("list", "Messages"), None)
        if held is None:  # the tree has changed while it was read
            return []
        kind = person.Atspi.CoordType.WINDOW
        box = held.get_component_iface().get_extents(kind)
        found = []
        for y in range(4, box.height, 14):
            if found and least and y > least:
                break
            # Beside the text: a screen reader passes by the labels of a row.
            node = held.get_component_iface().get_accessible_at_point(box.x + 8, box.y + y, kind)
            while node is not None and node.get_role_name() != "list":
                node.clear_cache()
                if word := self.pattern.search(node.get_name() or ""):
                    if word[0] not in found:
                        found.append(word[0])
                    break
                node = node.get_parent()
        return found

    def why(self):
        held = next(self.me.nodes("list", "Messages"), None)
        if held is None:
            return "; there is no list"
        kind = person.Atspi.CoordType.WINDOW
        box = held.get_component_iface().get_extents(kind)
        at = [held.get_component_iface().get_accessible_at_point(box.x + 8, box.y + y, kind) for y in range(4, box.height, 40)]
        return f"; {held.get_child_count()} rows, {box.x} {box.y} {box.width} {box.height}, {[node and (node.get_role_name(), node.get_name()) for node in at]}"

    def settled(self, is_whole):
        """Two looks that see the same, and that are whole."""
        end = time.monotonic() + 10
        last = None
        while time.monotonic() < end:
            now = self.now()
            if now and now == last and is_whole(now):
                return now
            last = now
            # A row has an accessible object once its list was asked for it.
            self.me.rows("Messages")
            time.sleep(0.03)
        raise person.Lost("rows are missing, come twice, or never rest: " + repr(last) + self.why())


def numbers(words):
    return [int(word[7:]) for word in words]


class Upwards(tour.Stage):
    """2,000 messages by Page Up: each is seen, in order, and nothing jumps."""

    def run(self):
        self.begin("juliet")
        self.log_in()
        database = sqlite3.connect(self.data + "/kalij.db")
        now = int(time.time() * 1000) - MANY * 60_000
        with database:
            for n in range(MANY):
                # Long ones between: rows differ in height.
                body = f"number {n:04}" + " and more words of it" * (n % 3 * 4)
                database.execute(ROW, (n + 1, f"s{n}", body, now + n * 60_000))
        database.close()
        self.kalij("read", "juliet@localhost")
        me, press = self.person, keys.Keyboard().press
        self.start()
        me.wait_row("Conversations", r"juliet@localhost, .*")
        me.key("Return")
        me.wait_row("Messages", f".*number {MANY - 1:04}.*")
        me.wait_focus("text", person.MESSAGE)
        press("F6", shift=True)
        sight = Sight(me, r"number \d{4}")
        begun, pages, seen, before, most = time.monotonic(), 0, [], None, 0
        while before is None or before[0] != 0:
            shown = numbers(sight.settled(lambda now: numbers(now) == list(range(numbers(now)[0], numbers(now)[-1] + 1))))
            if before is not None and not (shown[0] <= before[0] <= shown[-1] + 1):
                raise person.Lost(f"page {pages} jumps: {before} and then {shown}")
            seen += [n for n in reversed(shown) if before is None or n < before[0]]
            before = shown
            press("Page_Up")
            pages += 1
            if pages % 20 == 0:
                most = max(most, len(me.rows("Messages")))
            if pages > MANY:
                raise person.Lost(f"the first message cannot be reached: {shown}")
        if seen != list(range(MANY - 1, -1, -1)):
            raise person.Lost("not each once in order")
        self.say(f"{MANY} messages upwards in {pages} pages and {time.monotonic() - begun:.0f} s: each seen once, in order; "
                 f"at most {most} rows are held")
        if most > 310:
            raise person.Lost("too many rows are held")
        me.picture("first.png")
        me.end()
        self.warnings()


class Reader(tour.Stage):
    """The tour without a keyboard, but for Return in a list."""

    def run(self):
        juliet, nurse = self.begin("juliet", "nurse")
        me = self.person
        self.start()
        me.see("frame", "Kalij")
        self.enter_wrong_password()
        self.enter_password()
        for other, name in ((juliet, "juliet"), (nurse, "nurse")):
            me.press("New conversation")
            me.see("text|entry", "Name or address")
            me.enter("Name or address", name + "@localhost")
            me.wait_row("Contacts", f"Write to {name}@localhost")
            me.select("Contacts", "Write to .*")
            me.key("Return")
            me.see("text", person.MESSAGE)
            me.see("label", name + "@localhost")
            self.write("Good morrow, " + name)
            other.wait_for("Good morrow, " + name)
            other.say("romeo@localhost", "To thee, says " + name)
            me.wait_row("Messages", rf"{name}@localhost, \d\d:\d\d: To thee, says {name}")
        self.say("two conversations, with answers")
        # From the text field: a row is selected, and Return opens it.
        for other, name in ((juliet, "juliet"), (nurse, "nurse"), (juliet, "juliet")):
            me.select("Conversations", name + "@localhost, .*")
            # The focus follows in the next frame, and is heard.
            me.wait_focus("list item", ".*")
            me.key("Return")
            me.wait_row("Messages", rf"{name}@localhost, \d\d:\d\d: To thee, says {name}")
            me.wait_focus("text", person.MESSAGE)
        self.say("a row that is selected is opened by Return, wherever the focus was")
        self.write("written by hand of a reader")
        juliet.wait_for("written by hand of a reader")
        juliet.say("romeo@localhost", "heard")
        me.wait_row("Messages", r"juliet@localhost, \d\d:\d\d: heard")
        juliet.say("romeo@localhost", *[f"line {n:03}" for n in range(200)])
        me.wait_row("Messages", ".*: line 199", 60)
        self.upwards()
        me.end()
        self.warnings()

    def write(self, text):
        me = self.person
        me.enter(person.MESSAGE, text)
        me.press("Send")
        me.wait_row("Messages", rf"You, \d\d:\d\d: {text}\. (Sent|Delivered|Read)")

    def upwards(self):
        """The first row of the list is selected again and again, until the first message is there."""
        me = self.person
        end = time.monotonic() + 60
        held = me.see("list", "Messages")
        while not any("Good morrow, juliet" in (row or "") for row in me.rows("Messages")[:6]):
            person.Atspi.Selection.select_child(held, 0)
            time.sleep(0.1)
            if time.monotonic() > end:
                raise person.Lost("the first message cannot be reached: " + repr(me.rows("Messages")[:6]))
        self.say("read upwards to the first message by selecting")
