"""Groups and people, the rest: a creation that fails and is tried again, the picture, an owner, a ban, an invitation accepted, leaving;
and a contact who is renamed, muted, blocked and unblocked. What the others see is compared after each step.

    stage PROGRAM groups-people
"""
import asyncio
import base64
import time

import groups
import person
import tour

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
OTHER = PNG + b"\0"
NOT_ALLOWED = ("restrict_room_creation = false", "restrict_room_creation = true")


class Guest(groups.Guest):
    """What another program can find out, and do."""

    def ask(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(20)

    def picture_of(self, room):
        async def ask():
            answer = await self.client["xep_0054"].get_vcard(room)
            return answer["vcard_temp"]["PHOTO"]["BINVAL"]
        return self.ask(ask())

    def create(self, room, name):
        """An open room with the server's defaults, and a name."""
        async def create():
            await self.client["xep_0045"].join_muc_wait(room, self.jid.split("@")[0], timeout=10)
            form = self.client["xep_0004"].make_form("submit")
            form.add_field(var="FORM_TYPE", ftype="hidden", value="http://jabber.org/protocol/muc#roomconfig")
            form.add_field(var="muc#roomconfig_roomname", value=name)
            await self.client["xep_0045"].set_room_config(room, form)
        self.rooms.append(room)
        self.ask(create())

    def present(self, room):
        return set(self.client["xep_0045"].get_roster(room))

    def banned(self, room):
        """The addresses that the room does not admit, as an owner reads them."""
        return self.ask(self.client["xep_0045"].get_affiliation_list(room, "outcast"))

    def prepare(self, done):
        self.client.register_plugin("xep_0004")
        self.client.register_plugin("xep_0054")
        super().prepare(done)


class People(tour.Stage):
    member, members, open_members = groups.Groups.member, groups.Groups.members, groups.Groups.open_members
    answer = groups.Groups.answer

    def run(self):
        self.forbid(True)
        self.server.start()
        for user in ("romeo", "juliet", "nurse"):
            self.server.register(user, "secret-" + user)
        self.log_in()
        self.kalij("add", "juliet@localhost", "--name", "Juliet")
        self.start()
        self.fails()
        self.permits()
        self.retries()
        self.picture()
        self.owner()
        self.bans()
        self.accepts()
        self.leaves()
        self.contact()
        self.begins()
        self.person.end()
        self.warnings()

    def forbid(self, is_forbidden):
        """Whether Prosody lets nobody create rooms."""
        path = self.server.folder / "prosody.cfg.lua"
        text = path.read_text()
        old, new = NOT_ALLOWED if is_forbidden else reversed(NOT_ALLOWED)
        if old not in text:
            raise SystemExit("the configuration has no line " + old)
        path.write_text(text.replace(old, new))

    # A creation

    def fails(self):
        me = self.person
        me.wait_focus("push button", "New conversation")
        self.say("with an empty list, the focus is on what begins a conversation")
        groups.enter_group(me, "Balcony", "juliet@localhost", "nurse@localhost")
        me.press("Choose a picture …")
        self.choose_file("first.png", PNG)
        me.see("push button", "Remove the picture")
        me.press("Create")
        row = me.wait_row("Conversations", "Balcony, Not created: .*")
        me.picture("not-created.png")
        self.say(f"a creation that the server refuses: {row!r}")

    def permits(self):
        self.server.stop()
        self.forbid(False)
        self.server.start()
        self.juliet, self.nurse = (Guest(self.server, user, "secret-" + user) for user in ("juliet", "nurse"))
        self.person.gone("label", "Offline since .*|Connecting.*", 60)

    def retries(self):
        me = self.person
        me.select("Conversations", "Balcony.*")
        me.wait_focus("list item", "Balcony.*")
        me.key("Return")
        self.person.choose("Retry")
        self.room = self.juliet.wait_invited()
        self.nurse.wait_invited()
        me.wait_row("Conversations", "Balcony(?!, Not created).*")
        me.wait("the chosen picture at the room", lambda: self.juliet.picture_of(self.room) == PNG)
        self.say("tried again: one group with its picture, and both are invited")
        self.open("Balcony")

    # Its management

    def picture(self):
        """By the chooser of files, as the desktop has it without a portal: Ctrl+L begins a path."""
        me = self.person
        self.open_members()
        me.wait("three members", lambda: len(self.members()) == 3)
        me.press("Actions")
        self.person.choose("Change the picture …")
        self.choose_file("second.png", OTHER)
        me.wait("the picture at the room", lambda: self.juliet.picture_of(self.room) == OTHER)
        self.say("a picture, as the others read it from the room")

    def choose_file(self, name, content):
        me, path = self.person, self.stage + "/" + name
        open(path, "wb").write(content)
        me.see("push button", ".*Cancel")
        me.key("ctrl+l")
        me.type(path)
        # The list of completions takes the first one, now and then.
        for _ in range(3):
            me.key("Return")
            time.sleep(1)
            if not me.sees("push button", ".*Cancel"):
                break

    def owner(self):
        me = self.person
        self.member("Juliet", "Make an owner …")
        me.see("push button", "Make an owner")
        me.picture("make-owner.png")
        me.press("Make an owner")
        me.wait_row("Members", "Juliet, juliet@localhost, owner, present")
        self.say("a second owner")

    def bans(self):
        me = self.person
        self.member("nurse", "Ban …")
        me.see("push button", "Ban")
        me.picture("ban.png")
        me.press("Ban")
        if not self.nurse.out.wait(20):
            raise person.Lost("the nurse is still there")
        me.wait("two members", lambda: len(self.members()) == 2)
        me.wait_focus("list item", ".*")
        banned = self.juliet.banned(self.room)
        if banned != ["nurse@localhost"]:
            raise person.Lost(f"banned are {banned}")
        self.say("banned, as another owner reads it; the focus stays in the list")

    # Another's group

    def accepts(self):
        me = self.person
        room = "feast@conference.localhost"
        self.juliet.create(room, "Great hall")
        self.juliet.raw(f"<message to='romeo@localhost'><x xmlns='jabber:x:conference' jid='{room}' reason='A feast'/></message>")
        me.key("Escape")
        me.see("push button", "1 request")
        me.key("ctrl+shift+r")
        me.wait_row("Requests", "Juliet invites you to the group “Great hall”, .*")
        self.answer("Juliet invites.*", "Accept")
        me.wait("romeo in the room", lambda: "romeo" in self.juliet.present(room))
        me.key("Escape")
        me.wait_row("Conversations", "Great hall.*")
        self.say("an invitation accepted: in the room, as the others see it")
        self.feast = room

    def leaves(self):
        me = self.person
        self.open("Great hall")
        self.open_members()
        me.press("Actions")
        self.person.choose("Leave …")
        me.see("push button", "Leave")
        me.picture("leave.png")
        me.press("Leave")
        me.wait("romeo out of the room", lambda: "romeo" not in self.juliet.present(self.feast))
        me.wait_focus("text", person.MESSAGE)
        self.say("left, as the others see it")

    # The beginning of a conversation

    def begins(self):
        me = self.person
        me.key("ctrl+n")
        me.wait_focus("text|entry", "Name or address")
        me.wait("the contacts", lambda: me.rows("Contacts") == ["Giulietta, juliet@localhost"])
        tour.Tour.names(self)
        me.picture("new-conversation.png")
        me.type("iul")
        me.see("label", "1 contact")
        me.type("x")
        me.see("label", "Nothing found")
        me.key("ctrl+a")
        me.type("nurse@localhost")
        me.wait_row("Contacts", "Write to nurse@localhost")
        me.picture("new-conversation-address.png")
        me.key("ctrl+a")
        me.type("giu")
        me.wait("one contact", lambda: me.rows("Contacts") == ["Giulietta, juliet@localhost"])
        me.key("Down")
        me.wait_focus("list item", "Giulietta, juliet@localhost")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)
        me.key("ctrl+n")
        me.wait_focus("text|entry", "Name or address")
        me.press("Add a contact by address …")
        me.wait_focus("text|entry", "Address")
        me.picture("new-contact.png")
        me.type("nurse@localhost")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)
        me.see("label", "nurse@localhost")
        if not self.nurse.requested.wait(20):
            raise person.Lost("the nurse is not asked")
        me.key("ctrl+n")
        me.wait("both contacts", lambda: len(me.rows("Contacts")) == 2)
        me.press("I have an invitation")
        me.see("push button", "From a picture …")
        me.press("Cancel")
        me.gone("push button", "From a picture …")
        me.key("Escape")
        me.wait_focus("text", person.MESSAGE)
        self.say("a conversation begun by a part of a name, with a new contact, and the way to an invitation")

    # A contact

    def contact(self):
        me = self.person
        self.kalij("send", "juliet@localhost", "Good morrow")
        self.open("Juliet")
        me.key("ctrl+i")
        me.wait_focus("push button", "Rename …")
        me.picture("contact.png")
        tour.Tour.names(self)
        me.key("Return")
        me.wait_focus("text|entry", "Name")
        me.key("ctrl+a")
        me.type("Giulietta")
        me.key("Return")
        me.see("label", "Giulietta")
        me.press("Notifications: All messages")
        me.choose("Mute for 1 hour")
        me.see("push button", r"Notifications: Muted until \d\d:\d\d")
        me.picture("muted.png")
        me.press("Block …")
        me.press("Block")
        me.see("push button", "Unblock")
        me.see("label", "(?s).*Blocked: neither messages.*")
        me.picture("blocked.png")
        self.juliet.say("romeo@localhost", "Dost thou hear me?")
        me.press("Unblock")
        me.see("push button", "Block …")
        self.juliet.say("romeo@localhost", "And now?")
        me.key("Escape")
        me.wait_row("Messages", "Giulietta, .*And now.*")
        me.wait_row("Conversations", "Giulietta.*")
        if any("hear me" in row for row in me.rows("Messages")):
            raise person.Lost("a blocked person was heard")
        self.say("renamed, muted, blocked: not heard; unblocked: heard")
