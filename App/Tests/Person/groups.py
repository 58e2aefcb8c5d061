"""Groups: made by name and people alone, managed, left; requests answered. The other two people use slixmpp, and what they see is compared.

    stage PROGRAM groups
"""
import json
import threading
import time

import flood
import person
import server as servers
import tour

MUC = "{http://jabber.org/protocol/muc#user}"


class Guest(servers.OtherPerson):
    """Somebody who enters the groups that invite."""

    def __init__(self, *arguments, joins=True):
        super().__init__(*arguments)
        self.rooms, self.invited, self.joins, self.markers = [], [], joins, []
        self.names, self.subjects, self.out = {}, [], threading.Event()
        self.requested = threading.Event()
        done = threading.Event()
        self.loop.call_soon_threadsafe(self.prepare, done)
        done.wait(10)

    def prepare(self, done):
        self.client.register_plugin("xep_0045")
        self.client.register_plugin("xep_0249")
        self.client.register_plugin("xep_0333")
        self.client.add_event_handler("marker_displayed", self.came_marker)
        self.client.roster.auto_authorize = False
        self.client.roster.auto_subscribe = False
        self.client.add_event_handler("groupchat_direct_invite", self.came_invitation)
        self.client.add_event_handler("groupchat_subject", lambda message: self.subjects.append(message["subject"]))
        self.client.add_event_handler("groupchat_presence", self.gone)
        self.client.add_event_handler("presence_subscribe", lambda _: self.requested.set())
        done.set()

    def came_marker(self, message):
        with self.changed:
            self.markers.append((message["from"].resource, message["displayed"]["id"]))
            self.changed.notify_all()

    def wait_marker(self, nick, name):
        with self.changed:
            if not self.changed.wait_for(lambda: (nick, name) in self.markers, 20):
                raise person.Lost(f"{self.jid} is not told that {nick} has read {name}: {self.markers}")

    def has_read(self, room, name):
        self.raw(f"<message to='{room}' type='groupchat' id='seen-{name}'>"
                 f"<displayed xmlns='urn:xmpp:chat-markers:0' id='{name}'/><store xmlns='urn:xmpp:hints'/></message>")

    def came_invitation(self, message):
        x = message.xml.find("{jabber:x:conference}x")
        if x is None:
            return
        with self.changed:
            self.invited.append(x.get("jid"))
            self.changed.notify_all()
        if self.joins:
            self.join(x.get("jid"))

    def join(self, room):
        self.rooms.append(room)
        self.client.plugin["xep_0045"].join_muc(room, self.jid.split("@")[0])

    def gone(self, presence):
        codes = {status.get("code") for status in presence.xml.iter(MUC + "status")}
        if codes & {"301", "307", "321"} or presence.xml.find(f"{MUC}x/{MUC}destroy") is not None:
            if str(presence["from"]).endswith("/" + self.jid.split("@")[0]):
                self.out.set()

    def wait_invited(self, count=1):
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.invited) >= count, 20):
                raise person.Lost(f"{self.jid} is not invited")
        return self.invited[-1]

    def say_in(self, room, text):
        self.loop.call_soon_threadsafe(lambda: self.client.send_message(mto=room, mbody=text, mtype="groupchat"))

    def raw(self, stanza):
        self.loop.call_soon_threadsafe(self.client.send_raw, stanza)

    def name_of(self, room):
        """What the room calls itself now."""
        import asyncio
        async def ask():
            info = await self.client["xep_0030"].get_info(jid=room)
            return [identity[3] for identity in info["disco_info"]["identities"]]
        return asyncio.run_coroutine_threadsafe(ask(), self.loop).result(20)


def enter_group(me, name, *people):
    """By keyboard, up to *Create*."""
    me.key("ctrl+shift+n")
    me.wait_focus("text|entry", "Group name")
    me.type(name)
    me.key("Return")
    for address in people:
        me.wait_focus("text|entry", "Add a person")
        me.type(address)
        me.key("Return")
    me.see("push button", "Remove " + people[-1])


class Groups(tour.Stage):
    def run(self):
        self.server.start()
        for user in ("romeo", "juliet", "nurse"):
            self.server.register(user, "secret-" + user)
        self.juliet, self.nurse = (Guest(self.server, user, "secret-" + user) for user in ("juliet", "nurse"))
        self.log_in()
        self.kalij("add", "juliet@localhost", "--name", "Juliet")
        self.start()
        self.person.see("frame", "Kalij")
        self.makes()
        self.speaks()
        self.manages()
        self.removes()
        self.requests()
        self.destroys()
        self.person.end()
        self.warnings()

    # By keyboard

    def makes(self):
        me = self.person
        time.sleep(1)
        me.key("ctrl+shift+n")
        me.wait_focus("text|entry", "Group name")
        tour.Tour.names(self)
        me.type("Balcony")
        me.key("Return")
        me.wait_focus("text|entry", "Add a person")
        me.type("juli")
        me.see("push button", "Juliet, juliet@localhost")
        me.picture("new-group.png")
        me.key("Return")
        me.see("push button", "Remove Juliet")
        me.type("nobody")
        me.key("Return")
        me.see("label", "None of your contacts has this name.*")
        me.enter("Add a person", "")
        me.wait_focus("text|entry", "Add a person")
        me.type("nurse@localhost")
        me.key("Return")
        me.see("push button", "Remove nurse@localhost")
        begun = time.monotonic()
        me.key("Return")
        self.room = self.juliet.wait_invited()
        if self.nurse.wait_invited() != self.room:
            raise person.Lost("two rooms")
        self.say(f"a group of three by name and people; invited after {1000 * (time.monotonic() - begun):.0f} ms")
        me.wait_focus("text", person.MESSAGE)
        me.wait_row("Conversations", "Balcony.*")
        if any("@conference" in row for row in me.rows("Conversations")):
            raise person.Lost("the group has two rows, or no name")

    def speaks(self):
        me = self.person
        me.type("Good evening")
        me.key("Return")
        me.wait_row("Messages", r"You, \d\d:\d\d: Good evening\. (Sent|Delivered)")
        self.juliet.wait_for("Good evening")
        self.nurse.wait_for("Good evening")
        self.juliet.say_in(self.room, "Good evening, Romeo")
        me.wait_row("Messages", r"Juliet, .*Good evening, Romeo|juliet, .*Good evening, Romeo")
        self.say("all three speak, and are heard")
        self.is_read()
        self.mentioned()

    def is_read(self):
        """Both ways: what the user has read, and who has read what the user said."""
        me = self.person
        names = {line["body"]: line["stanza_id"] for line in map(json.loads, self.kalij("--json", "history", self.room).splitlines())
                 if line.get("body")}
        self.nurse.wait_marker("romeo", names["Good evening, Romeo"])
        self.juliet.has_read(self.room, names["Good evening"])
        me.wait_row("Messages", r"You, \d\d:\d\d: Good evening\. Read by 1 of 2")
        me.picture("read-by.png")
        self.nurse.has_read(self.room, names["Good evening"])
        me.wait_row("Messages", r"You, \d\d:\d\d: Good evening\. Read by all")
        tour.Tour.focus_messages(self)
        me.select("Messages", "You, .*Good evening.*")
        me.key("Menu")
        me.choose("Who has read this …")
        me.see("label", "Have read it: .*")
        me.picture("who-has-read.png")
        me.key("Escape")
        me.gone("label", "Have read it: .*")
        self.say("read by one, by all, and by whom")

    def mentioned(self):
        """In the list: in words, and not by the colour alone."""
        me = self.person
        self.kalij("send", "juliet@localhost", "Good morrow")
        self.open("Juliet")
        self.nurse.say_in(self.room, "Where is romeo?")
        row = me.wait_row("Conversations", "Balcony, 1 unread, mentions you, .*")
        me.picture("mentioned.png")
        self.say(f"a mention: {row!r}")
        self.open("Balcony")
        me.wait_row("Conversations", "Balcony, nurse.*")
        me.type("@jul")
        me.picture("mention.png")
        me.key("Return")
        me.wait("the completed name", lambda: any(me.text(field) == "@juliet " for field in me.fields(person.MESSAGE)))
        me.type("look")
        me.key("Return")
        self.juliet.wait_for("@juliet look")
        self.say("a name completed behind @")

    def members(self):
        return self.person.rows("Members")

    def open_members(self):
        me = self.person
        me.key("ctrl+i")
        me.see("list", "Members")
        me.wait_focus("list item", ".*")

    def manages(self):
        me = self.person
        self.open_members()
        me.wait("three members", lambda: sorted(self.members()) == sorted([
            "You, romeo@localhost, owner, present", "Juliet, juliet@localhost, member, present",
            "nurse, nurse@localhost, member, present"]))
        me.picture("group.png")
        tour.Tour.names(self)
        self.say("members with role and presence in words")
        self.kalij("profile", "--name", "Romeo Montague")
        me.wait("the own name", lambda: self.members()[0] == "You (Romeo Montague), romeo@localhost, owner, present")
        me.press("Notifications: All messages")
        me.choose("Mentions only|Notify of mentions only")
        me.press("Notifications: Mentions only")
        me.choose("Mute for 8 hours")
        me.see("push button", r"Notifications: Muted until \d\d:\d\d")
        me.picture("group-muted.png")
        me.press(r"Notifications: Muted until \d\d:\d\d")
        me.choose("Unmute")
        me.see("push button", "Notifications: Mentions only")
        self.say("the page of the group has the own name, and mutes until a time")
        me.press("Actions")
        self.person.choose("Rename …")
        me.wait_focus("text|entry", "Group name")
        me.key("ctrl+a")
        me.type("Orchard")
        me.key("Return")
        me.wait("the new name", lambda: "Orchard" in self.juliet.name_of(self.room))
        me.press("Actions")
        self.person.choose("Change the topic …")
        me.wait_focus("text|entry", "Topic")
        me.type("Names and roses")
        me.key("Return")
        me.see("label", "Names and roses")
        me.wait("the topic", lambda: "Names and roses" in self.juliet.subjects)
        self.say("renamed, and a topic: seen by the others")
        self.member("Juliet", "Make an admin")
        me.wait_row("Members", "Juliet, juliet@localhost, admin, present")
        self.say("an admin")

    def member(self, name, item):
        """By the Menu key on a member's row."""
        me = self.person
        me.select("Members", name + ",.*")
        me.wait("the row of " + name, lambda: any(
            "SELECTED" in person.states(node) for node in me.nodes("list item", name + ",.*")))
        me.key("Menu")
        if item == "Make an admin":
            me.picture("member-menu.png")
        self.person.choose(item)

    def removes(self):
        me = self.person
        self.member("nurse", "Remove from the group …")
        me.see("push button", "Remove")
        me.picture("remove.png")
        me.press("Remove")
        me.wait("two members", lambda: len(self.members()) == 2)
        if not self.nurse.out.wait(20):
            raise person.Lost("the nurse is still there")
        me.press("Actions")
        self.person.choose("Invite people …")
        me.wait_focus("text|entry", "Add a person")
        me.type("nurse@localhost")
        self.nurse.out.clear()
        me.key("Return")
        me.press("Invite")
        self.nurse.wait_invited(2)
        me.wait_row("Members", "nurse, nurse@localhost, member, present")
        self.say("removed, and invited again")
        me.key("Escape")
        me.wait_focus("text", person.MESSAGE)
        me.wait_row("Conversations", "Orchard.*")

    def requests(self):
        me = self.person
        self.nurse.raw("<presence to='romeo@localhost' type='subscribe'><nick xmlns='http://jabber.org/protocol/nick'>Angelica</nick></presence>")
        me.see("push button", "1 request")
        room = "hall@conference.localhost"
        self.juliet.loop.call_soon_threadsafe(self.juliet.join, room)
        time.sleep(0.5)
        self.juliet.raw(f"<message to='romeo@localhost'><x xmlns='jabber:x:conference' jid='{room}' reason='A feast'/></message>")
        me.see("push button", "2 requests")
        me.key("ctrl+shift+r")
        me.wait_row("Requests", rf"Juliet invites you to .*, juliet@localhost, {room}, A feast, .*")
        me.wait_row("Requests", "Angelica wants to be your contact, nurse@localhost.*")
        me.picture("requests.png")
        tour.Tour.names(self)
        self.answer("Angelica.*", "Accept")
        self.answer("Juliet invites.*", "Decline")
        me.see("label|panel", "No requests")
        if not self.nurse.requested.wait(20):
            raise person.Lost("the contact is not asked in turn")
        me.key("Escape")
        me.gone("push button", r"\d requests?")
        self.say("a contact accepted, an invitation declined")

    def answer(self, row, button):
        me = self.person
        me.select("Requests", row)
        me.wait("the row " + row, lambda: any("SELECTED" in person.states(node) for node in me.nodes("list item", row)))
        me.key("Return")
        me.press(button)
        me.wait("the request is gone", lambda: not me.sees("list item", row))

    def destroys(self):
        me = self.person
        self.open_members()
        self.juliet.out.clear()
        me.press("Actions")
        self.person.choose("Delete for everyone …")
        me.press("Delete for everyone")
        if not self.juliet.out.wait(20):
            raise person.Lost("the group is still there")
        me.see("label", "The group was deleted")
        me.key("Escape")
        self.say("deleted for everyone")


class Many(tour.Stage):
    """A group of 5,000 members, offline: the list has widgets for few of them, opens at once, and its end can be reached; and a thousand
    contacts to begin a conversation with."""

    COUNT = 5000

    start_watched, stretches = flood.Flood.start_watched, flood.Flood.stretches

    def longest(self, what, before):
        """How long the main loop was busy at a time, on a processor."""
        time.sleep(2)
        busy = sorted(used for _, used in self.stretches()[before:])
        self.say(f"{what}: the main loop at a time at most {busy[-1]:.0f} ms, {sum(one > 20 for one in busy)} over 20 ms")
        return busy[-1]

    def run(self):
        import sqlite3
        self.server.start()
        self.server.register("romeo", "secret-romeo")
        self.log_in()
        self.kalij("room", "create", "Verona")
        self.server.stop()
        with sqlite3.connect(self.data + "/kalij.db") as database:
            room, = database.execute("SELECT id FROM room").fetchone()
            database.executemany("INSERT OR IGNORE INTO room_member(room, jid, affiliation) VALUES (?, ?, 'member')",
                                 [(room, f"citizen{n:04}@localhost") for n in range(self.COUNT - 1)])
            database.executemany("INSERT INTO contact(account, jid, name, groups, subscription, asked, approved)"
                                 " SELECT id, ?, ?, '', 'both', 0, 0 FROM account",
                                 [(f"person{n:04}@localhost", f"Person {n:04}") for n in range(1000)])
        database.close()
        self.start_watched()
        me = self.person
        self.open("Verona")
        time.sleep(1)
        stretch = len(self.stretches())
        before, begun = self.cpu(), time.monotonic()
        me.key("ctrl+i")
        me.see("list", "Members")
        me.wait_focus("list item", "You, romeo@localhost, owner.*")
        took = 1000 * (time.monotonic() - begun)
        rows = len(self.person.rows("Members"))
        self.say(f"{self.COUNT} members: in sight after {took:.0f} ms, {self.cpu() - before} ms of CPU, {rows} rows with widgets")
        if rows > 250:
            raise person.Lost(f"{rows} rows have widgets")
        if not me.sees("label", f"{self.COUNT} members"):
            raise person.Lost("the number of members is not said")
        self.longest("opened", stretch)
        stretch = len(self.stretches())
        me.key("End")
        self.longest("to the end", stretch)
        me.wait_row("Members", rf"citizen{self.COUNT - 2:04}@localhost, member.*")
        me.picture("many.png")
        if took > 3000:
            raise person.Lost("too slow")
        me.key("Escape")
        me.wait_focus("text", person.MESSAGE)
        self.contacts()
        me.end()
        self.warnings()

    def contacts(self):
        me = self.person
        stretch, before, begun = len(self.stretches()), self.cpu(), time.monotonic()
        me.key("ctrl+n")
        me.see("label", "1000 contacts")
        me.wait_row("Contacts", "Person 0000, person0000@localhost")
        self.say(f"1000 contacts: in sight after {1000 * (time.monotonic() - begun):.0f} ms, {self.cpu() - before} ms of CPU")
        self.longest("contacts", stretch)
        stretch = len(self.stretches())
        me.type("person 0999")
        me.see("label", "1 contact")
        self.longest("searched", stretch)
        me.key("Escape")
        me.wait_focus("text", person.MESSAGE)
