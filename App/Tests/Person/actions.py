"""Actions on messages, by keyboard, and what the other side has of them: replies, corrections, reactions, retractions; messages that are deleted
here, or sent again. The peer reads stanzas.

    stage PROGRAM actions
"""
import re
import subprocess
import threading
import time

import person
import server as servers
import tour

from slixmpp.xmlstream.handler import Callback
from slixmpp.xmlstream.matcher import MatchXPath
from xml.etree import ElementTree

STATES = "{http://jabber.org/protocol/chatstates}"
#: How long a deletion can be undone, in seconds.
UNDO = 8


class Peer(servers.OtherPerson):
    """Another program, all of whose messages are kept."""

    def __init__(self, *words):
        self.stanzas, self.lock = [], threading.Lock()
        super().__init__(*words)
        kept = Callback("all messages", MatchXPath("{jabber:client}message"), self.keep)
        self.loop.call_soon_threadsafe(self.client.register_handler, kept)

    def keep(self, message):
        with self.lock:
            self.stanzas.append(ElementTree.fromstring(str(message)))

    def send(self, text):
        self.loop.call_soon_threadsafe(self.client.send_raw, text)

    def message(self, id, content):
        self.send(f"<message to='romeo@localhost' type='chat' id='{id}'>{content}</message>")

    def say_as(self, id, text):
        """With the state that lets the other side send its own (XEP-0085 section 5.1)."""
        self.message(id, f"<body>{text}</body><active xmlns='http://jabber.org/protocol/chatstates'/>")

    def all(self, path):
        with self.lock:
            return [stanza for stanza in self.stanzas if stanza.find(path) is not None]

    def wait_stanza(self, path, count=1):
        """The last of `count` stanzas with the element `path`; not more have come after a moment."""
        end = time.monotonic() + 20
        while len(self.all(path)) < count:
            if time.monotonic() > end:
                raise person.Lost(f"{self.jid} has not received {path}, but {[ElementTree.tostring(one) for one in self.stanzas]}")
            time.sleep(0.02)
        time.sleep(0.3)
        found = self.all(path)
        if len(found) != count:
            raise person.Lost(f"{len(found)} times {path}")
        return found[-1]


class Actions(tour.Stage):
    def run(self):
        self.server.start()
        for user in ("romeo", "juliet"):
            self.server.register(user, "secret-" + user)
        self.juliet = Peer(self.server, "juliet", "secret-juliet")
        self.log_in()
        self.kalij("add", "juliet@localhost")
        self.kalij("send", "juliet@localhost", "Good morrow")
        self.start()
        self.open("juliet@localhost")
        self.replies()
        self.tabs()
        self.types()
        self.corrects()
        self.reacts()
        self.retracts()
        self.retracted_meanwhile()
        self.deletes()
        self.long_quote()
        self.keys()
        self.sends_again()
        self.quits()
        self.warnings()

    # Hands

    def take(self, text):
        """Selects the message whose row has `text`."""
        me = self.person
        me.wait_row("Messages", f".*{text}.*")
        self.focus_messages()
        me.select("Messages", f".*{text}.*")
        me.wait("a selected row", lambda: any("SELECTED" in person.states(node) for node in me.nodes("list item", f".*{text}.*")))

    focus_messages = tour.Tour.focus_messages
    names = tour.Tour.names

    def choose(self, words):
        """An item of the menu of the selected message."""
        me = self.person
        me.key("Menu")
        self.press_item(words)

    def press_item(self, words):
        me = self.person
        me.see("menu item", words)
        me.press(words, "menu item")

    def write(self, text):
        me = self.person
        me.wait_focus("text", person.MESSAGE)
        me.type(text)
        me.key("Return")

    def composer(self):
        return next(self.person.fields(person.MESSAGE))

    def points(self):
        """The button beside the message below the pointer, which no screen reader has: it is to the right of a message of others."""
        me = self.person
        row = next(me.nodes("list item", ".*Wherefore.*"))
        box = row.get_component_iface().get_extents(person.Atspi.CoordType.WINDOW)
        for x in range(box.x + 100, box.x + box.width, 12):
            place = [str(x), str(box.y + box.height // 2)]
            subprocess.run(["xdotool", "mousemove", *place, "sleep", "0.3", "click", "1", "sleep", "0.2"], check=True, timeout=20)
            if me.sees("menu item", "Reply"):
                break
        else:
            raise person.Lost("no place beside the message opens its menu")
        me.picture("button.png")
        me.key("Escape")
        me.gone("menu item", "Reply")
        me.wait_focus("list item", ".*Wherefore.*")
        subprocess.run(["xdotool", "mousemove", "2", "2"], check=True, timeout=20)
        self.say("the button beside a message opens its menu")

    # Actions

    def replies(self):
        me = self.person
        self.juliet.say_as("q1", "Wherefore art thou Romeo?")
        self.take("Wherefore art thou Romeo")
        me.key("Menu")
        me.see("menu item", "Reply")
        me.picture("menu.png")
        self.names()
        me.key("Escape")
        me.gone("menu item", "Reply")
        me.wait_focus("list item", ".*Wherefore.*")
        self.points()
        me.key("ctrl+r", "ctrl+r")
        line = "Reply to juliet@localhost: Wherefore art thou Romeo.*"
        me.see("label", line)
        me.wait_focus("text", person.MESSAGE)
        me.type("Call me but love")
        time.sleep(0.5)  # what the app has to keep a draft
        me.kill()
        self.start()
        me.see("label", line)
        me.wait("the draft", lambda: me.text(self.composer()) == "Call me but love")
        me.picture("reply.png")
        me.wait_focus("text", person.MESSAGE)
        me.key("Return", "Return")
        reply = self.juliet.wait_stanza("{urn:xmpp:reply:0}reply")
        if reply.find("{urn:xmpp:reply:0}reply").get("id") != "q1":
            raise person.Lost("the reply names another message")
        me.wait_row("Messages", r"You, \d\d:\d\d, answers juliet@localhost: .*: Call me but love\. .*")
        me.gone("label", line)
        self.own = reply.get("id")
        self.say("a reply: killed before it was sent, its text and its message are there again; the other side has it once")

    def tabs(self):
        """Tab leaves the list from whatever row, and comes back to that row."""
        me = self.person
        self.take("Call me but love")
        me.key("F6", "shift+Tab", "shift+Tab")
        me.wait_focus("list item", ".*Call me but love.*")
        row = ("list item", ".*: Wherefore art thou Romeo.*")
        me.key("Up")
        me.wait_focus(*row)
        for key, place in (("Tab", ("push button", "Attach")), ("shift+Tab", row),
                           ("shift+Tab", ("push button", "Contact: juliet@localhost")), ("Tab", row)):
            me.key(key)
            me.wait_focus(*place)
        self.say("Tab leaves the messages, and comes back to the same one")

    def types(self):
        me = self.person
        before = {state: len(self.juliet.all(STATES + state)) for state in ("composing", "paused")}
        self.take("Wherefore")
        me.key("ctrl+r")
        me.type("It is the east")
        for state, count in before.items():
            self.juliet.wait_stanza(STATES + state, count + 1)
        me.key("Escape")
        me.gone("label", "Reply to .*")
        me.wait("the text stays", lambda: me.text(self.composer()) == "It is the east")
        me.key("Return")
        self.juliet.wait_for("It is the east")
        if self.juliet.all("{urn:xmpp:reply:0}reply")[1:]:
            raise person.Lost("Escape has not ended the reply")
        self.say("typing: composing, paused, and each once; Escape ends the reply and keeps its text")

    def corrects(self):
        me = self.person
        me.wait("an empty composer", lambda: me.text(self.composer()) == "")
        me.key("Up")
        me.see("label", "Correct the message: .*")
        me.wait("the text", lambda: me.text(self.composer()) == "It is the east")
        me.key("Return")  # nothing was changed
        me.gone("label", "Correct the message: .*")
        me.key("Up")
        me.wait("the text", lambda: me.text(self.composer()) == "It is the east")
        me.key("ctrl+End")
        me.type(", and Juliet is the sun")
        time.sleep(0.5)  # what the app has to keep a draft
        me.kill()
        self.start()
        me.see("label", "Correct the message: It is the east")
        me.wait("the correction", lambda: me.text(self.composer()) == "It is the east, and Juliet is the sun")
        me.picture("correction.png")
        me.key("Return", "Return")
        correction = self.juliet.wait_stanza("{urn:xmpp:message-correct:0}replace")
        original = next(one for one in self.juliet.all("{*}body") if one.find("{*}body").text == "It is the east")
        if correction.find("{urn:xmpp:message-correct:0}replace").get("id") != original.get("id"):
            raise person.Lost("the correction names another message")
        me.wait_row("Messages", r"You, .*: It is the east, and Juliet is the sun\. Edited.*")
        me.key("Up")
        me.wait("the text", lambda: me.text(self.composer()) == "It is the east, and Juliet is the sun")
        me.type(" that rises")
        time.sleep(0.5)
        me.key("Escape")
        me.gone("label", "Correct the message: .*")
        time.sleep(0.5)
        me.kill()
        self.start()
        me.wait("no correction", lambda: me.text(self.composer()) == "" and not me.sees("label", "Correct the message: .*"))
        self.say("a correction, killed before it was sent and there again, once; an unchanged text is none, and neither is one that was ended")

    def reacts(self):
        me = self.person
        reactions, reaction = "{urn:xmpp:reactions:0}reactions", "{urn:xmpp:reactions:0}reaction"
        self.take("Wherefore")
        me.key("ctrl+period")
        me.see("menu item", "Thumbs up")
        time.sleep(0.5)
        me.picture("quick.png")
        me.choose("Other emoji …")
        time.sleep(1)
        me.picture("chooser.png")
        me.type("grin")
        time.sleep(0.7)
        self.names()
        me.key("Tab")
        me.key("Return")
        stanza = self.juliet.wait_stanza(reactions)
        emoji = [one.text for one in stanza.find(reactions).findall(reaction)]
        if stanza.find(reactions).get("id") != "q1" or len(emoji) != 1:
            raise person.Lost(f"reactions: {emoji}")
        row = me.wait_row("Messages", f"juliet@localhost, .*Reactions: {emoji[0]} yours.*")
        me.picture("reaction.png")
        self.take("Wherefore")
        self.choose(f"Remove {emoji[0]}")
        stanza = self.juliet.wait_stanza(reactions, 2)
        if stanza.find(reactions).findall(reaction):
            raise person.Lost("the reaction stays")
        me.wait_row("Messages", r"juliet@localhost, \d\d:\d\d: Wherefore art thou Romeo\?")
        self.say(f"a reaction, and its removal: {row!r}")
        self.take("Wherefore")
        me.key("ctrl+period")
        me.choose("Heart")
        stanza = self.juliet.wait_stanza(reactions, 3)
        if [one.text for one in stanza.find(reactions).findall(reaction)] != ["❤️"]:
            raise person.Lost("no heart")
        self.take("Wherefore")
        self.choose("Remove ❤️")
        self.juliet.wait_stanza(reactions, 4)
        self.say("a heart, of the first menu")

    def retracts(self):
        me = self.person
        self.take("Call me but love")
        me.key("shift+Delete")
        me.see("push button", "Retract")
        self.names()
        me.picture("retract.png")
        me.press("Retract")
        retraction = self.juliet.wait_stanza("{urn:xmpp:message-retract:1}retract")
        if retraction.find("{urn:xmpp:message-retract:1}retract").get("id") != self.own:
            raise person.Lost("the retraction names another message")
        me.wait("the text is gone", lambda: not any("Call me but love" in row for row in me.rows("Messages")))
        self.say("a retraction, after a question")

    def retracted_meanwhile(self):
        me = self.person
        self.juliet.say_as("t1", "I should have been more strange")
        self.take("more strange")
        me.key("Menu")
        me.see("menu item", "Reply")
        self.juliet.message("t2", "<retract xmlns='urn:xmpp:message-retract:1' id='t1'/><body>gone</body>")
        me.wait("the text is gone", lambda: not any("more strange" in row for row in me.rows("Messages")))
        self.press_item("Reply")
        me.see("label", "This message has changed.*")
        self.names()
        me.gone("label", "Reply to .*")
        self.say("a message that is retracted while its menu is open: words, and nothing else")

    def deletes(self):
        me = self.person
        me.gone("label", "This message has changed.*", 30)
        for number in range(3):
            self.juliet.say_as(f"d{number}", f"Parting {number}")
        self.take("Parting 0")
        me.key("Delete")
        me.wait("it is gone", lambda: not any("Parting 0" in row for row in me.rows("Messages")))
        me.see("label", "1 message deleted here")
        me.picture("deleted.png")
        self.names()
        me.wait_focus("list item", ".*Parting 1.*")
        me.key("Delete")
        me.see("label", "2 messages deleted here")
        # Its button does nothing any more while it fades.
        me.gone("label", "1 message deleted here")
        me.press("Undo")
        for number in range(3):
            me.wait_row("Messages", f".*Parting {number}.*")
        me.gone("label", "2 messages deleted here")
        self.take("Parting 1")
        me.key("Delete")
        me.wait("it is gone", lambda: not any("Parting 1" in row for row in me.rows("Messages")))
        me.key("ctrl+z")
        self.take("Parting 1")
        me.key("Delete")
        time.sleep(UNDO + 2)
        rows = [row for row in me.rows("Messages") if "Parting" in row]
        told = self.kalij("history", "juliet@localhost")
        if len(rows) != 2 or "Parting 1" in told or "Parting 0" not in told:
            raise person.Lost(f"deleted: {rows}, {told}")
        self.say("deleted here, undone by a button and by a key, both of two at once; then gone")

    def long_quote(self):
        me = self.person
        self.juliet.say_as("long", "O " + "Romeo " * 16_000)
        self.take("O Romeo Romeo")
        begun = time.monotonic()
        me.key("ctrl+r")
        me.see("label", "Reply to juliet@localhost: O Romeo Romeo.*")
        self.write("Call me")
        reply = self.juliet.wait_stanza("{urn:xmpp:reply:0}reply", 2)
        quoted = len(reply.find("{*}body").text)
        if quoted > 1000:
            raise person.Lost(f"{quoted} characters")
        self.say(f"a reply to 96 kB, with a quote of {quoted} characters, after {time.monotonic() - begun:.1f} s")

    def keys(self):
        me = self.person
        me.key("ctrl+question")
        me.see("label", ".*Retract the selected message for everyone")
        self.names()
        time.sleep(0.5)
        me.picture("keys.png")
        me.key("Escape")
        me.gone("label", ".*Retract the selected message for everyone")

    def sends_again(self):
        me = self.person
        me.key("ctrl+n")
        me.wait_focus("text|entry", "Name or address")
        me.type("nurse@localhost")
        me.key("Return")
        self.write("Nurse, will you go with me?")
        me.wait_row("Messages", "You, .*: Nurse, will you go with me.*Not sent.*")
        self.take("Nurse, will you")
        me.picture("not-sent.png")
        self.write_second()
        self.server.register("nurse", "secret-nurse")
        nurse = Peer(self.server, "nurse", "secret-nurse")
        self.take("Nurse, will you")
        me.key("Return", "Return")
        me.wait_row("Messages", "You, .*: Nurse, will you go with me. (Sent|Delivered|Read)")
        rows = [re.sub(r"\. .*|\? .*", "", row.split(": ", 1)[1]) for row in me.rows("Messages") if row.startswith("You, ")]
        if rows != ["Nurse, will you go with me", "Anon"]:
            raise person.Lost(f"the place is another: {rows}")
        nurse.wait_for("Nurse, will you go with me?")
        time.sleep(0.5)
        if nurse.received.count("Nurse, will you go with me?") != 1:
            raise person.Lost(f"twice: {nurse.received}")
        self.say("a message that was not sent: again, in its place and once")

    def quits(self):
        """The end of the app ends the time for undoing, too."""
        me = self.person
        self.take("Anon")
        me.key("Delete")
        me.wait("it is gone", lambda: not any("Anon" in row for row in me.rows("Messages")))
        me.key("ctrl+q")
        if me.program.wait(timeout=20) != 0 or "Anon" in self.kalij("history", "nurse@localhost"):
            raise person.Lost(f"not deleted at the end ({me.program.returncode}): " + self.kalij("history", "nurse@localhost"))
        self.say("a message that was not sent is deleted, when the app ends")

    def write_second(self):
        me = self.person
        me.key("F6")
        self.write("Anon")
        me.wait_row("Messages", "You, .*: Anon.*Not sent.*")
