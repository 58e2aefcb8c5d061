"""Bad days of a directory: tables of an older or a newer version, and other processes that migrate or hold the database."""
import os
import sqlite3
import subprocess
import sys
import time

import person

#: Takes the database back before some migrations.
BACK = """DROP TRIGGER message_goes; DROP TABLE message_gone; ALTER TABLE message DROP COLUMN author;
    ALTER TABLE catchup DROP COLUMN result_bytes;
    DELETE FROM migration WHERE name IN ('messages/4', 'messages/5', 'history/5')"""
#: Holds the lock for writing.
HOLD = """import sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
database.execute('BEGIN EXCLUSIVE')
print('held', flush=True)
time.sleep(float(sys.argv[2]))
database.execute('COMMIT')"""
#: Has the right to drive, as Fence takes it, and knows older tables.
DRIVE = """import fcntl, os, sqlite3, struct, sys, time
database = sqlite3.connect(sys.argv[1] + '/kalij.db')
number = database.execute('SELECT number FROM fence').fetchone()[0] + 1
lock = os.open(sys.argv[1] + '/driver.lock', os.O_RDWR)
fcntl.fcntl(lock, 37, struct.pack('hhqqi', fcntl.F_WRLCK, 0, number, 1, 0) + bytes(4))
with database:
    database.execute("INSERT OR REPLACE INTO fence VALUES (1, ?, 'main', ?, 0, 0)", (number, os.getpid()))
print('drives', flush=True)
time.sleep(100)"""


class Versions:
    """A part of `days.Days`."""

    def sql(self, script):
        database = sqlite3.connect(self.data + "/kalij.db", timeout=20)
        database.executescript(script)
        database.close()

    def helper(self, script, *words):
        process = subprocess.Popen([sys.executable, "-c", script, *words], stdout=subprocess.PIPE)
        if not process.stdout.readline():
            raise person.Lost("a process that should hold the database does not")
        return process

    def is_current(self):
        database = sqlite3.connect(f"file:{self.data}/kalij.db?mode=ro", uri=True)
        found = database.execute("SELECT count(*) FROM migration WHERE name IN ('messages/4', 'messages/5', 'history/5')").fetchone()
        database.close()
        return found == (3,)

    def works(self, text, seconds=20):
        """The list is there, and a message goes."""
        me = self.person
        me.wait_row("Conversations", r"(Juliet|juliet).*", seconds)
        self.open()
        me.enter(person.MESSAGE, "")  # a draft of another day
        self.type(text)
        self.keys.press("Return")
        self.arrives(text)

    def older_tables(self):
        """The app migrates."""
        self.sql(BACK)
        self.start()
        self.works("over older tables")
        self.person.end()
        if not self.is_current():
            raise person.Lost("the tables are not migrated")

    def migrated_by_two(self):
        """The app and `kalij run` begin at once: one of them migrates."""
        for turn in range(5):
            self.sql(BACK)
            log = open(self.stage + "/kalij.log", "ab")
            driver = subprocess.Popen([os.environ["KALIJ_BINARY"], "--data", self.data, "run"], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            time.sleep(0.05 * turn)
            self.start()
            self.works(f"beside another that migrates {turn}")
            self.say(f"begun {50 * turn} ms after `kalij run`, which {'drives' if driver.poll() is None else f'ended with {driver.poll()}'}")
            self.person.end()
            if driver.poll() is None:
                driver.terminate()
            driver.wait(timeout=20)

    def held_for_writing(self):
        """Another process holds the lock for writing: for some seconds, and for longer than the app waits; at the start, and afterwards."""
        for seconds in (4, 15):
            self.sql(BACK)
            holder = self.helper(HOLD, self.data + "/kalij.db", str(seconds))
            begun = time.monotonic()
            self.start()
            self.person.wait_row("Conversations", r"(Juliet|juliet).*", 40)
            self.say(f"held for {seconds} s at the start: the list after {time.monotonic() - begun:.1f} s, {self.line()}")
            ended = holder.wait(timeout=40)
            self.person.wait("a banner that goes", lambda: self.line() is None, 60)
            self.say(f"the holder ended with {ended}; {time.monotonic() - begun:.1f} s after the start all is well")
            self.works(f"held at the start for {seconds}")
            holder = self.helper(HOLD, self.data + "/kalij.db", str(seconds))
            begun = time.monotonic()
            self.juliet.say("romeo@localhost", f"while it is held for {seconds}")
            time.sleep(seconds - 1)
            self.person.picture(f"held-{seconds}.png")
            self.say(f"held for {seconds} s while it runs: {self.line()}")
            ended = holder.wait(timeout=40)
            self.person.wait_row("Messages", f".*: while it is held for {seconds}", 60)
            self.say(f"the holder ended with {ended}; the message is there after {time.monotonic() - begun:.1f} s")
            self.works(f"held for {seconds} while it runs")
            self.person.end()

    def line(self):
        """What the line above the list says."""
        words = ".*(online|Offline|connecting|Connecting|Nothing can be stored|refuses the login).*"
        return next((node.get_name() for node in self.person.nodes("label", words)), None)

    def older_driver(self):
        """A process of an older version drives: the app reads what there is, and migrates when that one ends."""
        self.sql(BACK)
        driver = self.helper(DRIVE, self.data)
        me = self.person
        try:
            self.start()
            me.see("label", "Another program keeps your accounts online")
            before = self.cpu()
            time.sleep(3)
            me.picture("older-driver.png")
            self.say(f"beside an older driver: {me.rows('Conversations') if me.sees('list', 'Conversations') else 'no list'}, "
                     f"{self.cpu() - before} ms of CPU in 3 s")
        finally:
            driver.kill()
            driver.wait()
        self.works("after the older driver")
        me.end()

    def newer_tables(self):
        """The database is of a newer version: the app says so, and changes nothing."""
        self.sql("INSERT INTO migration VALUES ('messages/99')")
        me = self.person
        try:
            self.start()
            time.sleep(2)
            me.picture("newer.png")
            labels = [node.get_name() for node in me.nodes("label")]
            me.see("label", ".*newer version.*", 3)
            self.say(f"it says: {self.line()}")
            if me.sees("label", "Welcome to Kalij"):
                raise person.Lost(f"the app welcomes a person who has accounts: {labels}")
        finally:
            me.end()
            self.sql("DELETE FROM migration WHERE name = 'messages/99'")
        self.start()
        self.works("the version is right again")
        me.end()
