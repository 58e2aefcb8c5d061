"""Addresses in messages, by keyboard, by the menu and by a click; the browser is a program that notes what it was given.

    stage PROGRAM links
"""
import os
import pathlib
import subprocess
import time

import person
import tour

#: Cyrillic letters that look like Latin ones.
LOOKALIKE = "https://аррӏе.com/"


class Links(tour.Tour):
    def run(self):
        self.juliet, _ = self.begin("juliet", "nurse")
        self.log_in()
        self.kalij("send", "juliet@localhost", "Good morrow")
        self.browser = Browser(self.stage)
        self.start()
        self.open("juliet@localhost")
        self.by_keyboard()
        self.several()
        self.copied()
        self.doubtful()
        self.clicked()
        self.chat()
        self.hostile_links()
        self.person.end()
        self.warnings()

    def come(self, text, row):
        """A message of Juliet's, which is selected then."""
        me = self.person
        self.juliet.say("romeo@localhost", text)
        me.wait_row("Messages", rf"juliet@localhost, \d\d:\d\d: {row}")
        time.sleep(0.3)
        focused = me.focused()
        if focused and focused.get_role_name() == "list item":
            me.key("End")
        else:
            me.select("Messages", rf"juliet@localhost, \d\d:\d\d: {row}")
        me.wait_focus("list item", f".*{row}")

    def by_keyboard(self):
        me = self.person
        self.come("Look: *https://example.org/balcony?a=1&b=2*.", r"Look: \*https://example\.org/balcony\?a=1&b=2\*\. 1 link")
        me.key("Return")
        self.browser.opens("https://example.org/balcony?a=1&b=2")
        me.picture("links.png")
        self.say("Return on a message opens its address; its name says that it has one")

    def several(self):
        me = self.person
        self.come("http://one.example or https://two.example/", ".*2 links")
        me.key("Return")
        me.see("menu item", "Open http://one.example")
        me.picture("links-menu.png")
        me.wait_focus("menu item", "Open http://one.example")
        self.person.choose("Open https://two.example/")
        self.browser.opens("https://two.example/")
        self.say("of several addresses a menu has each")

    def copied(self):
        me = self.person
        self.come("https://example.org/copy", ".*/copy. 1 link")
        me.key("Menu")
        self.person.choose("Copy https://example.org/copy")
        me.key("F6")
        me.wait_focus("text", person.MESSAGE)
        me.key("ctrl+v")
        me.wait("the address", lambda: any(me.text(field) == "https://example.org/copy" for field in me.fields(person.MESSAGE)))
        me.key("ctrl+a", "BackSpace")
        self.say("the menu copies an address")

    def doubtful(self):
        me = self.person
        self.come(LOOKALIKE, LOOKALIKE + r"\. 1 link")
        me.key("Return")
        me.see("label", r"Open this address\?")
        me.see("label", r"It leads to xn--80ak6aa92e\.com\. .*")
        me.picture("links-question.png")
        self.names()
        me.wait_focus("push button", "Cancel")
        me.key("Return")
        me.gone("label", r"Open this address\?")
        me.key("Return")
        me.see("label", r"Open this address\?")
        me.press("Open")
        self.browser.opens("https://xn--80ak6aa92e.com/")
        self.come("https://bank.example@evil.example/", ".*@evil.*1 link")
        me.key("Return")
        me.see("label", r"It leads to evil\.example\. .*")
        me.wait_focus("push button", "Cancel")
        me.key("Return")
        me.gone("label", r"Open this address\?")
        self.browser.opens(None)
        self.say("an address that may lead elsewhere is opened after a question, which says where it leads")

    def clicked(self):
        me = self.person
        self.come("https://example.org/mouse", ".*/mouse.*1 link")
        row = next(node for node in me.nodes("list item", ".*org/mouse.*"))
        box = row.get_component_iface().get_extents(person.Atspi.CoordType.WINDOW)
        place = [str(box.x + 70), str(box.y + box.height // 2 - 8)]
        subprocess.run(["xdotool", "mousemove", *place, "sleep", "0.3", "click", "1"], check=True, timeout=20)
        self.browser.opens("https://example.org/mouse")
        subprocess.run(["xdotool", "mousemove", *place, "sleep", "0.3", "click", "3"], check=True, timeout=20)
        me.see("menu item", "Copy https://example.org/mouse")
        me.picture("links-right-click.png")
        me.key("Escape")
        me.gone("menu item", "Copy https://example.org/mouse")
        self.say("a click opens an address, the secondary button has the menu of the message")

    def chat(self):
        me = self.person
        self.come("xmpp:nurse@localhost?message", "xmpp:nurse.*1 link")
        me.key("Return")
        me.wait_focus("text", person.MESSAGE)
        me.see("label", "nurse@localhost")
        self.browser.opens(None)
        self.say("an address of XMPP opens its conversation here")

    def hostile_links(self):
        me = self.person
        me.key("alt+Down")
        me.see("label", "juliet@localhost")
        me.wait_row("Messages", ".*xmpp:nurse.*")
        texts = {
            "2,200 words, as a control": "quiet " * 2200, "1,000 addresses": "http://a.b " * 1000, "200,000 brackets": "https://a.b/" + ")" * 200_000, "40,000 schemes": "http:" * 40_000,
            "controls of direction": "https://exa\u202emple.org/\u2066x", "markup": "</a><a href='https://evil.example'>https://bank.example</a>",
        }
        for name, text in texts.items():
            before = self.cpu()
            self.juliet.say("romeo@localhost", text, "after " + name)
            me.wait_row("Messages", ".*: after " + name)
            time.sleep(0.5)
            self.say(f"{name}: {self.cpu() - before} ms of CPU")
        rows = me.rows("Messages")
        for wanted in ("https://example.org/x. 1 link", "50 links", "https://bank.example</a>. 2 links"):
            if not any(wanted in row for row in rows):
                raise person.Lost(f"no row with {wanted}: {rows}")
        me.picture("links-hostile.png")


class Browser:
    """The desktop's program for pages."""

    def __init__(self, stage):
        self.log = pathlib.Path(stage) / "browser.log"
        self.log.write_text("")
        folder = pathlib.Path(os.environ["HOME"]) / ".local/share/applications"
        folder.mkdir(parents=True, exist_ok=True)
        program = pathlib.Path(stage) / "browser"
        program.write_text(f'#!/bin/sh\necho "$1" >>{self.log}\n')
        program.chmod(0o755)
        (folder / "noting.desktop").write_text(
            f"[Desktop Entry]\nType=Application\nName=Noting\nExec={program} %u\nMimeType=x-scheme-handler/http;x-scheme-handler/https;\n")
        config = pathlib.Path(os.environ["XDG_CONFIG_HOME"])
        config.mkdir(parents=True, exist_ok=True)
        (config / "mimeapps.list").write_text(
            "[Default Applications]\nx-scheme-handler/http=noting.desktop\nx-scheme-handler/https=noting.desktop\n")
        self.count = 0

    def opens(self, address):
        """Waits for exactly one more address; None for no further one."""
        self.count += address is not None
        end = time.monotonic() + 10
        while True:
            given = self.log.read_text().split()
            if address is not None and len(given) == self.count and given[-1] == address:
                return
            if address is None and time.monotonic() > end - 9.5:
                if len(given) != self.count:
                    raise person.Lost(f"the browser was given {given}")
                return
            if time.monotonic() > end:
                raise person.Lost(f"the browser was not given {address}, but {given}")
            time.sleep(0.05)
