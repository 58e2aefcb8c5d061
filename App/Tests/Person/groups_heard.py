"""What Orca says of the screens of groups and people, by keyboard alone: a new group, its members, requests, a contact. Each place to which
a key moves the focus is said with its name, its role and its state in words; what arrives is said once.

    stage PROGRAM groups-heard      PARTS="requests contact": some of the parts alone
"""
import os
import pathlib
import re
import time

import everyday
import people
import person

PARTS = "makes speaks members requests contact"
#: What Orca says of a role. A row of a list is said by its name, which has its state.
ROLES = {"push button": "button", "toggle button": "toggle button", "check box": "check box", "text": "text|entry", "entry": "text|entry",
         "menu item": "", "list item": "", "password text": "password"}


class GroupsHeard(everyday.Everyday):
    def run(self):
        self.server.start()
        for user in ("romeo", "juliet", "nurse"):
            self.server.register(user, "secret-" + user)
        self.juliet, self.nurse = (people.Guest(self.server, user, "secret-" + user) for user in ("juliet", "nurse"))
        self.log_in()
        self.kalij("add", "juliet@localhost", "--name", "Juliet")
        self.kalij("send", "juliet@localhost", "Good morrow")
        with self.orca():
            self.faults, self.steps = [], 0
            self.quiet()
            self.step("the start", self.start, r"Juliet, You: Good morrow, \d\d:\d\d")
            for part in os.environ.get("PARTS", PARTS).split():
                getattr(self, part)()
        self.say(f"{self.steps} steps; {len(self.said(0))} utterances")
        if self.faults:
            raise person.Lost("\n".join(self.faults))
        # GTK 4.8 warns of the coordinates that Orca requests.
        self.person.end()

    def stops(self, what, key="Tab", most=12):
        """Through all places that the key reaches, until the first comes again: each is said by its name and its role."""
        seen = []
        for _ in range(most):
            before = len(self.spoken())
            self.person.key(key)
            time.sleep(0.3)
            self.quiet()
            node = self.person.focused()
            place = node and (node.get_role_name(), node.get_name() or "")
            if place in seen:
                break
            seen.append(place)
            self.steps += 1
            said = self.said(before)
            self.say(f"{what}, {key}: {place}: {said}")
            self.judge(f"{what}, {key} to {place}", place, said)
        self.say(f"{what}: {len(seen)} stops")

    def judge(self, what, place, said):
        if not place or not place[1]:
            return self.fault(f"{what} has no name: {said}")
        role, name = place
        words = " ".join(said)
        plain = lambda text: re.sub(r"[\W_]+", " ", text).strip().lower()
        if plain(name) not in plain(words):
            self.fault(f"{what} does not say its name: {said}")
        if not re.search(ROLES.get(role, "."), words):
            self.fault(f"{what} does not say its role: {said}")
        if any(everyday.CLASS.search(one) for one in said):
            self.fault(f"{what} says classes: {said}")
        twice = [one for one, after in zip(said, said[1:]) if plain(one) == plain(after)]
        if twice:
            self.fault(f"{what} says twice {twice}: {said}")

    def fault(self, words):
        self.faults.append(words)
        print("FAULT", words, flush=True)

    def once(self, what, do, pattern):
        """What arrives is said once."""
        before = len(self.spoken())
        self.step(what, do, pattern)
        time.sleep(3)
        found = [one for one in self.said(before) if re.search(pattern, one)]
        if len(found) != 1:
            self.fault(f"{what} is said {len(found)} times: {found}")

    # The screens

    def makes(self):
        me = self.person
        self.keys("a new group", "ctrl+shift+n", "Group name")
        self.write("Balcony")
        self.stops("new group")
        self.picture(me)
        me.key("shift+Tab")
        self.reach("text|entry", "Add a person")
        self.step("the begin of a name", lambda: self.write("juli"), "Juliet, juliet@localhost")
        self.keys("Return adds", "Return", "Juliet added")
        self.step("a name that nobody has", lambda: (self.write("nobody"), me.key("Return")), "None of your contacts has this name")
        me.key("ctrl+a")
        self.write("nurse@localhost")
        self.keys("Return adds an address", "Return", "nurse@localhost added")
        self.stops("new group with guests")
        self.reach("push button", "Create")
        self.keys("Create", "Return", "Message to Balcony", seconds=30)
        self.room = self.juliet.wait_invited()
        self.nurse.wait_invited()
        me.wait_focus("text", person.MESSAGE)
        me.wait_row("Conversations", "Balcony.*")
        me.wait("both in the group", lambda: all("romeo" in guest.present(self.room) for guest in (self.juliet, self.nurse)))
        self.quiet()

    def picture(self, me):
        """By the chooser of files, as the desktop has it without a portal."""
        path = pathlib.Path(self.stage) / "balcony.png"
        path.write_bytes(people.PNG)
        self.reach("push button", "Choose a picture …")
        me.key("Return")
        me.see("push button", ".*Cancel")
        time.sleep(1)
        me.key("ctrl+l")
        me.type(str(path))
        self.quiet()
        self.step("a picture is chosen", lambda: me.key("Return"), "The picture is chosen")
        me.see("push button", "Remove the picture")
        self.stops("new group with a picture")

    def speaks(self):
        self.once("a message comes", lambda: self.juliet.say_in(self.room, "Good evening, Romeo"), "notification Juliet: Good evening, Romeo")
        self.once("a mention comes", lambda: self.nurse.say_in(self.room, "Where is romeo?"), r"notification nurse: Where is romeo\?")

    def members(self):
        me = self.person
        self.keys("the group", "ctrl+i", "You, romeo@localhost, owner, present", "Balcony, 3 members")
        me.wait("three members", lambda: len(me.rows("Members")) == 3)
        self.quiet()
        self.keys("the second member", "Down", "Juliet, juliet@localhost, member, present")
        self.keys("the third member", "Down", "nurse, nurse@localhost, member, present")
        self.stops("group")
        self.reach("list item", ".*")
        self.menu("a member's menu", "nurse", "Menu", "Write a message", "Make an admin", "Remove from the group", "Ban")
        self.reach("push button", "Actions")
        self.quiet()
        self.menu("the group's menu", None, "Return", "Invite people", "Rename", "Change the topic", "Change the picture", "Encrypt messages",
                  "Leave", "Delete for everyone")
        self.reach("list item", ".*")
        me.key("Home")
        self.walk_to("Juliet", "Down", 4)
        self.quiet()
        me.key("Menu")
        self.quiet()
        self.item("Make an admin")
        self.keys("Make an admin", "Return", "Make an admin, Juliet: done")
        me.wait_row("Members", "Juliet, juliet@localhost, admin, present")
        self.quiet()
        self.once("the topic is changed by another one", lambda: self.juliet.raw(
            f"<message to='{self.room}' type='groupchat'><subject>Names and roses</subject></message>"), "notification Topic: Names and roses")
        self.keys("to the last member", "Down", "nurse, nurse@localhost, member, present")
        self.keys("back to the admin", "Up", "Juliet, juliet@localhost, admin, present")
        me.key("Down")
        self.quiet()
        me.key("Menu")
        self.quiet()
        self.item("Remove from the group …")
        self.keys("Remove", "Return", "Remove nurse.*from the group", "Cancel", "Whoever may invite")
        self.stops("the question", most=3)
        self.reach("push button", "Remove")
        self.keys("it is removed", "Return", "Remove from the group, nurse: done")
        me.wait("two members", lambda: len(me.rows("Members")) == 2)
        self.quiet()
        self.reach("push button", "Actions")
        self.quiet()
        me.key("Return")
        self.quiet()
        self.item("Encrypt messages")
        self.keys("encrypt, nobody has keys", "Return", "notification Nobody else in the group has keys for encrypted messages yet: what you write cannot")
        self.keys("back", "Escape", "Message to Balcony")
        self.keys("the group again", "ctrl+i", "Balcony, 2 members, Names and roses, Nobody else in the group has keys")
        self.keys("back again", "Escape", "Message to Balcony")

    def menu(self, what, _, key, *items):
        """Opens a menu, and goes through its items; Escape leaves it."""
        me = self.person
        before = len(self.spoken())
        me.key(key)
        self.quiet()
        for _ in range(len(items) + 1):
            me.key("Down")
            self.quiet()
        said = " | ".join(self.said(before))
        self.steps += len(items)
        self.say(f"{what}: {said}")
        for item in items:
            if item not in said:
                self.fault(f"{what} does not say {item!r}: {said}")
        me.key("Escape")
        self.quiet()

    def item(self, name, most=10):
        """Goes down to the menu's item."""
        for _ in range(most):
            if self.said(0)[-1].rstrip(".").strip(" …") == name.rstrip(" …"):
                return
            self.person.key("Down")
            self.quiet()
        raise person.Lost(f"the menu has no {name!r}: {self.said(0)[-most:]}")

    def requests(self):
        me = self.person
        subscribe = "<presence to='romeo@localhost' type='subscribe'><nick xmlns='http://jabber.org/protocol/nick'>Angelica</nick></presence>"
        self.once("a request comes", lambda: self.nurse.raw(subscribe), "notification 1 request")
        room = "hall@conference.localhost"
        self.juliet.loop.call_soon_threadsafe(self.juliet.join, room)
        time.sleep(0.5)
        self.juliet.raw(f"<message to='romeo@localhost'><x xmlns='jabber:x:conference' jid='{room}' reason='A feast'/></message>")
        me.see("push button", "2 requests")
        time.sleep(1)
        self.quiet()
        self.keys("the requests", "ctrl+shift+r", "Juliet invites you to .*, juliet@localhost, hall@conference.localhost, A feast")
        self.keys("the second request", "Down", "Angelica wants to be your contact, nurse@localhost")
        self.stops("requests")
        self.reach("list item", ".*")
        me.key("End")
        self.quiet()
        self.keys("the question", "Return", "Angelica wants to be your contact", "Later")
        self.stops("the question's buttons", most=4)
        self.reach("push button", "Accept")
        self.keys("Accept", "Return", "Accept: done", "Juliet invites you")
        self.keys("the invitation", "Return", "Juliet invites you", "A feast")
        self.reach("push button", "Decline")
        self.keys("Decline", "Return", "Decline: done", "No requests")
        me.key("Escape")
        self.quiet()

    def contact(self):
        me = self.person
        self.keys("to the list", "Escape", ".+")
        me.key("Home")
        self.walk_to("Juliet, You", "Down", 5)
        self.quiet()
        self.keys("open Juliet", "Return", "Message to Juliet")
        self.keys("the contact", "ctrl+i", "Juliet", "Your messages are not encrypted", "Rename")
        self.stops("contact", most=16)
        self.reach("push button", "Encrypt messages")
        self.keys("encrypt, the other one has no keys", "Return", "notification Juliet has no keys for encrypted messages yet: what you write cannot be sent")
        self.reach("push button", "Verify devices and keys")
        self.keys("devices", "Return", "notification Devices of Juliet. No device of Juliet with keys for encryption is known yet", "Verify by a code")
        self.keys("back to the contact", "Escape", "Rename")
        self.reach("push button", "Notifications: All messages")
        self.keys("what can be chosen", "Return", "Mute for 1 hour")
        self.keys("mute", "Return", r"Muted until \d\d:\d\d")
        self.keys("back", "Escape", "Message to (Balcony|Juliet)")
