"""The app beside Dino, and beside a bare window of libadwaita, in the same run: from the start to the painted window, the work until nothing moves, the memory,
and what wakes up afterwards. Whatever a person sees is read from the picture of the display, so that any program can be measured.

    stage PROGRAM targets       ROUNDS=7 starts of each, one after the other
"""
import mmap
import os
import pathlib
import re
import shutil
import statistics
import struct
import subprocess
import time

import many
import person

ROUNDS = int(os.environ.get("ROUNDS", "7"))
#: After this long without a change of the picture the start is over.
QUIET = 1.5
LONGEST = 15.0


class Screen:
    """The display's memory, as Xvfb keeps it in a file (XWD)."""

    def __init__(self, folder):
        file = open(folder + "/Xvfb_screen0", "rb")
        self.memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        header = struct.unpack(">25I", self.memory[:100])
        self.begin, self.height, self.line = header[0] + 12 * header[19], header[5], header[12]

    def rows(self):
        """A number for each line of the picture."""
        picture = self.memory[self.begin:self.begin + self.height * self.line]
        return [hash(picture[at:at + self.line]) for at in range(0, len(picture), self.line)]


class Targets(many.Many):
    def run(self):
        self.begin()
        self.log_in()
        self.fill()
        screen = Screen(os.environ["SCREEN_FOLDER"])
        ours = [os.environ["KALIJ_APP"], "--data", self.data]
        rivals = {"kalij-app": ours, "bare window": [self.bare()], "dino": [shutil.which("dino-im") or shutil.which("dino")]}
        found = {name: [] for name, words in rivals.items() if words[0]}
        for _ in range(ROUNDS):
            for name in found:
                found[name].append(self.one(screen, rivals[name]))
        for what in ("painted, ms", "CPU until idle, ms", "RssAnon, MB", "wake-ups a second, idle"):
            print(f"{what:<26}" + "   ".join(f"{name} {self.of(rounds, what)}" for name, rounds in found.items()), flush=True)

    def bare(self):
        """A program of libadwaita that does nothing: the least that a start takes."""
        program = self.stage + "/bare"
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libadwaita-1"], check=True, capture_output=True, text=True).stdout.split()
        subprocess.run(["cc", "-O1", "-o", program, str(pathlib.Path(__file__).with_name("bare.c")), *flags], check=True)
        return program

    @staticmethod
    def of(rounds, what):
        values = sorted(round[what] for round in rounds)
        return f"{statistics.median(values):.0f} ({values[0]:.0f} to {values[-1]:.0f})"

    def one(self, screen, words):
        """A start, and some seconds of nothing."""
        empty = screen.rows()
        log = open(self.stage + "/targets.log", "ab")
        begun = time.monotonic()
        trust = {"SSL_CERT_FILE": str(self.server.certificate)}
        program = subprocess.Popen(words, env=os.environ | trust, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        pictures, last = [], begun
        while time.monotonic() - last < QUIET or len(pictures) < 2:
            now = screen.rows()
            if not pictures or now != pictures[-1][1]:
                last = time.monotonic()
                pictures.append((last - begun, now))
            if time.monotonic() - begun > LONGEST:
                break
            time.sleep(0.005)
        final = pictures[-1][1]
        changed = [place for place in range(len(final)) if final[place] != empty[place]]
        if not changed:
            raise person.Lost(f"{words[0]} shows nothing")
        # A caret blinks, a spinner turns: most lines are as they stay.
        painted = next(at for at, rows in pictures if sum(rows[i] == final[i] for i in changed) >= 0.9 * len(changed))
        cpu, before = self.work(program.pid), self.switches(program.pid)
        time.sleep(5)
        after = self.switches(program.pid)
        woken = sum(count - before.get(task, 0) for task, count in after.items())
        memory = int(re.search(r"RssAnon:\s+(\d+)", open(f"/proc/{program.pid}/status").read())[1]) / 1024
        program.terminate()
        try:
            program.wait(timeout=10)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
        end = time.monotonic() + 5
        while screen.rows() != empty and time.monotonic() < end:
            time.sleep(0.05)
        return {"painted, ms": painted * 1000, "CPU until idle, ms": cpu, "RssAnon, MB": memory,
                "wake-ups a second, idle": woken / 5}

    @staticmethod
    def work(pid):
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def switches(pid):
        """How often each thread has gone to sleep."""
        found = {}
        for task in os.listdir(f"/proc/{pid}/task"):
            try:
                text = open(f"/proc/{pid}/task/{task}/status").read()
            except OSError:  # the thread has ended
                continue
            found[task] = int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)[1])
        return found
