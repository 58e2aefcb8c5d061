"""Two accounts in one directory, and several processes on it: the app, `kalij run` and `kalij send`. There is one driver and one window, and
whatever changes is soon in both. Prints the distributions.

    stage PROGRAM shared       TURNS=12 kills of the driver
"""
import concurrent.futures
import json
import os
import sqlite3
import statistics
import subprocess
import threading
import time

import keys
import person
import tour

TURNS = int(os.environ.get("TURNS", "12"))
ARRIVING, SENT = 60, 26
#: Nobody should wait longer for what others have done.
LONGEST = 1000


class Run:
    """`kalij --json run`: events with the moments when they came, and commands."""

    def __init__(self, data):
        self.process = subprocess.Popen([os.environ["KALIJ_BINARY"], "--data", data, "--json", "run"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.seen, self.errors = {}, []
        threading.Thread(target=self.read, daemon=True).start()
        threading.Thread(target=self.hear, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            now, event = time.monotonic(), json.loads(line)
            message = event.get("message") or event
            if isinstance(message, dict) and message.get("body"):
                self.seen.setdefault(message["body"], now)

    def hear(self):
        self.errors += self.process.stderr

    def send(self, sender, to, text):
        words = {"command": "send", "account": sender, "to": to, "body": text}
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        self.process.wait()


class Tree:
    """Looks at the names of the rows of both lists again and again; notes when a text is there for the first time."""

    def __init__(self, me):
        self.me, self.looks = me, []
        self.lists = {name: me.see("list", name) for name in ("Conversations", "Messages")}

    def times(self, wanted, seconds):
        """:param wanted: for each text, in which lists it has to be.
        :return: for each text and list, when the list had the text."""
        found, end = {}, time.monotonic() + seconds
        while time.monotonic() < end:
            begun = time.monotonic()
            for name, held in self.lists.items():
                count = held.get_child_count()
                for place in range(max(0, count - 6), count):
                    try:
                        row = held.get_child_at_index(place).get_name() or ""
                    except Exception:  # the row has gone meanwhile
                        continue
                    for text in wanted:
                        if (text, name) not in found and text in row:
                            found[text, name] = time.monotonic()
            self.looks.append(1000 * (time.monotonic() - begun))
            if all((text, name) in found for text, names in wanted.items() for name in names):
                return found
            time.sleep(0.004)
        missing = [(text, name) for text, names in wanted.items() for name in names if (text, name) not in found]
        raise person.Lost(f"not seen within {seconds} s: {missing}\n{self.me.tree()}")


def distribution(values):
    ordered = sorted(1000 * value for value in values)

    def part(share):
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    return (f"median {statistics.median(ordered):.0f} ms, 90 % within {part(0.9):.0f}, 99 % within {part(0.99):.0f}, "
            f"at most {ordered[-1]:.0f} ms, of {len(ordered)}")


class Shared(tour.Stage):
    #: Accounts of the person, each with somebody who writes to it. Both know juliet.
    PAIRS = (("romeo", "juliet"), ("mercutio", "nurse"))

    def run(self):
        juliet, nurse, tybalt = self.begin("juliet", "nurse", "tybalt")
        self.server.register("mercutio", "secret-mercutio")
        self.others = {"juliet": juliet, "nurse": nurse}
        for account, other in self.PAIRS:
            self.log_in(account)
            self.kalij("send", "--account", f"{account}@localhost", f"{other}@localhost", f"Good morrow from {account}")
        self.kalij("send", "--account", "mercutio@localhost", "juliet@localhost", "A word with you")
        tybalt.say("mercutio@localhost", "Gentlemen, good den")
        self.count, self.keys = 0, keys.Keyboard()
        self.database = sqlite3.connect(f"file:{self.data}/kalij.db?mode=ro", uri=True, check_same_thread=False)
        self.other = Run(self.data)
        try:
            self.beside()
        finally:
            self.other.kill()
        self.warnings()

    def beside(self):
        me = self.person
        self.wait_driver(self.other.process.pid)
        self.start()
        me.see("label", "Another program keeps your accounts online")
        self.says_which()
        self.tree = Tree(me)
        self.both("`kalij run` drives, the app reads")
        self.turns()
        self.wait_driver(me.program.pid)
        self.both("the app drives, beside `kalij history`")
        looks = sorted(self.tree.looks)
        self.say(f"the tree was read every {4 + statistics.median(looks):.0f} ms in the middle, {4 + looks[-1]:.0f} ms at most")
        self.one_window()
        me.end()

    # Who drives

    def driver(self):
        """The process with the right to drive."""
        return self.database.execute("SELECT pid FROM fence").fetchone()[0]

    def wait_driver(self, pid, seconds=20):
        end = time.monotonic() + seconds
        while self.driver() != pid:
            if time.monotonic() > end:
                raise person.Lost(f"{pid} does not drive, but {self.driver()}")
            time.sleep(0.0005)
        return time.monotonic()

    # Which account

    def says_which(self):
        """Rows of both accounts, two of the same person: heard and seen, each says whose it is."""
        me = self.person
        for account, other in (*self.PAIRS, ("mercutio", "juliet"), ("mercutio", "tybalt")):
            self.heard = me.wait_row("Conversations", rf"{other}@localhost, account {account}@localhost, .*")
        self.open_short()
        me.picture("two-accounts.png")
        self.say(f"each row says whose it is: {self.heard!r}")
        self.open_first()

    def open_short(self):
        """A conversation of few rows: the tree is read quickly."""
        self.open_as("mercutio")

    def open_first(self):
        self.open_as("romeo", "Good morrow from romeo")

    def open_as(self, account, text=""):
        """The conversation of `account` with juliet, and in it a message with `text`."""
        me = self.person
        me.select("Conversations", rf"juliet@localhost, account {account}@localhost, .*")
        me.wait_focus("list item", ".*")
        me.key("Return")
        me.see("label", f"You write as {account}@localhost")
        if text:
            me.wait_row("Messages", f".*{text}.*")
        me.wait_focus("text", person.MESSAGE)

    # Changes

    def both(self, who):
        """What others do is soon in the app, whose conversation of romeo with juliet is open, and in the other process."""
        load = os.getloadavg()[0]
        arriving = [self.arrives(place) for place in range(ARRIVING)]
        self.tell(f"{who}: a message that comes, in the app", [app for app, _ in arriving])
        self.tell(f"{who}: a message that comes, in the other process", [there for _, there in arriving])
        sent = [self.sends(place) for place in range(SENT)]
        self.tell(f"{who}: a message of `kalij send`, in the app", [app for app, _ in sent])
        self.tell(f"{who}: a message of `kalij send`, at the recipient", [there for _, there in sent])
        own = [self.writes() for _ in range(SENT // 2)]
        self.tell(f"{who}: a message of the app, at the recipient", own)
        self.say(f"load {load:.1f} to {os.getloadavg()[0]:.1f}")

    def tell(self, what, values):
        self.say(f"{what}: {distribution(values)}")
        # The load of the machine moves the end of the distribution, hardly its middle.
        if statistics.median(values) * 1000 > LONGEST:
            raise person.Lost(f"{what}: too late")

    def arrives(self, place):
        account, other = self.PAIRS[place % 2]
        self.count += 1
        text = f"arriving {self.count:04}"
        begun = time.monotonic()
        self.others[other].say(f"{account}@localhost", text)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            there = pool.submit(self.in_other, text, account, other)
            found = self.tree.times({text: self.lists(account)}, 20)
            return max(found.values()) - begun, there.result() - begun

    def in_other(self, text, account, other):
        """When another process has it: an event of `kalij run`; or, while that one does not run, the end of a `kalij history` that prints it."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if self.driver() == self.other.process.pid:
                if text in self.other.seen:
                    return self.other.seen[text]
                time.sleep(0.002)
            elif text in self.kalij("history", f"{other}@localhost", "--account", f"{account}@localhost", "--limit", "3"):
                return time.monotonic()
        raise person.Lost(f"the other process does not tell {text!r}")

    def lists(self, account):
        """The lists in which a message of the account's pair is shown."""
        return ("Conversations", "Messages") if account == "romeo" else ("Conversations",)

    def sends(self, place):
        """By a command, whose start counts, too; every other one by the other process's standard input if that one drives."""
        account, other = self.PAIRS[place % 2]
        self.count += 1
        text = f"sent {self.count:04}"
        begun = time.monotonic()
        command = None
        if place % 4 > 1 and self.driver() == self.other.process.pid:
            self.other.send(f"{account}@localhost", f"{other}@localhost", text)
        else:
            command = subprocess.Popen([os.environ["KALIJ_BINARY"], "--data", self.data, "send", "--account", f"{account}@localhost",
                                        f"{other}@localhost", text], stdout=subprocess.DEVNULL)
        found = self.tree.times({text: self.lists(account)}, 20)
        self.others[other].wait_for(text)
        if command and command.wait(timeout=20) != 0:
            raise person.Lost(f"kalij send ended with {command.returncode}")
        return max(found.values()) - begun, self.others[other].came[text] - begun

    def writes(self):
        me = self.person
        self.count += 1
        text = f"written {self.count:04}"
        me.enter(person.MESSAGE, text)
        # GTK's button waits 250 ms when a reader presses it.
        begun = self.keys.press("Return")
        self.others["juliet"].wait_for(text)
        self.tree.times({text: ("Conversations", "Messages")}, 20)
        return self.others["juliet"].came[text] - begun

    # Kills

    def turns(self):
        """`kalij run` is killed, and the app drives; then the app is killed, and begins again beside another `kalij run`."""
        me, fences, words = self.person, [], []
        self.open_short()
        for turn in range(TURNS):
            self.wait_driver(self.other.process.pid)
            me.see("label", "Another program keeps your accounts online")
            begun = time.monotonic()
            self.other.process.kill()
            fences.append(self.wait_driver(me.program.pid) - begun)
            me.gone("label", "Another program.*")
            words.append(time.monotonic() - begun)
            self.other.process.wait()
            text = f"turn {turn:02}"
            self.others["juliet"].say("romeo@localhost", text)
            self.tree.times({text: ("Conversations",)}, 20)
            if turn + 1 == TURNS:
                break
            me.kill()
            self.other = Run(self.data)
            self.wait_driver(self.other.process.pid)
            self.start()
            me.wait_row("Conversations", f".*{text}.*")
            self.tree = Tree(me)
        self.open_first()
        self.tree = Tree(me)
        self.say(f"`kalij run` is killed: the app has the right to drive: {distribution(fences)}")
        self.say(f"`kalij run` is killed: the app's line is gone from the tree: {distribution(words)}")
        if statistics.median(fences) > 0.1:
            raise person.Lost("the app does not drive soon")

    def one_window(self):
        me = self.person
        again = subprocess.run([os.environ["KALIJ_APP"], "--data", self.data], timeout=20)
        if again.returncode != 0 or me.program.poll() is not None:
            raise person.Lost(f"the second start ended with {again.returncode}")
        frames = [node.get_name() for node in me.nodes("frame")]
        if frames != ["Kalij"]:
            raise person.Lost(f"windows: {frames}")
        self.say("a second start shows the one window")
