#!/usr/bin/python3
"""What a message costs: instructions (valgrind's callgrind), statements, calls of write and of pwrite, pages of the write-ahead log, and
allocations, each as the difference between two amounts of messages, which leaves out start, login and end.

usage: run.py KALIJ [--kind KIND]... [--few N] [--many N] [--profile FOLDER] [--bounds FILE]

With --bounds, each count is compared with the file's; exit status 1 above one of them, or far below one of instructions: a bound
that is never near would not notice what makes a message dearer. Load changes the counts by about 2 %: stanzas that arrive within 5 ms
share a transaction.

Kinds: live (a chat message of a stream), receipt (one that asks for a receipt, which is sent), archive (a result of Prosody's archive in
the first catch-up), room (a message of one of 500 people in a room, behind Prosody), encrypted (a result of the archive that is encrypted
for the account, in a session that both sides have), pager (a result for a C program that pages the archive and stores nothing).
"""
import argparse, json, os, re, shutil, socket, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../Receive"), os.path.join(HERE, "../CatchUp"), os.path.join(HERE, "../Encryption")]
from laboratory import Client, Prosody, recorded
from replay import SCRIPTED, free_port, prepare
from users import User, acquaint

CROWD = os.path.join(HERE, "../../Tests/Programs/crowd.py")
# The people of a room.
PEOPLE = 500

# valgrind counts each repetition of a string instruction, which glibc uses from some length on.
ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.cpu.x86_rep_stosb_threshold=1000000:glibc.cpu.x86_rep_movsb_threshold=1000000"}
# By how many instructions a bound may be above the count, or by which part of the bound.
SLACK, PART = 60_000, 0.1
# Seconds for one count.
LIMIT = 900
COUNTED = {
    "instructions": (), "statements": ("sqlite3_step",), "writes": ("write", "writev"),
    "pwrites": ("pwrite", "pwrite64"), "pages": ("written_page",),
    "allocations": ("malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"),
}


def login(kalij, jid, port, authority):
    subprocess.run(
        kalij + ["login", jid, "--direct-tls", "--server", "127.0.0.1:%d" % port, "--ca", authority], check=True,
        stdout=subprocess.DEVNULL, env={**os.environ, "KALIJ_PASSWORD": "secret"})


def awaited(port):
    """Waits until somebody listens."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            assert time.monotonic() < deadline, "nobody listens"
            time.sleep(0.1)


class Stream:
    """Messages of a recorded stream."""

    def __init__(self, folder, count, *options):
        self.folder, self.port = folder, free_port()
        prepare(folder, count, *options)

    def run(self, program, count, keep):
        data = self.folder + "/data"
        shutil.rmtree(data, ignore_errors=True)
        recording = open(self.folder + "/recording.xml", "rb").read()
        end = [match.end() for match in re.finditer(rb"</message>", recording)][count - 1]
        with open(self.folder + "/part.xml", "wb") as part:
            part.write(recording[:end])
        server = subprocess.Popen(
            [sys.executable, SCRIPTED, "--port", str(self.port), "--cert", self.folder + "/cert.pem", "--key", self.folder + "/key.pem",
             "replay", self.folder + "/part.xml"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert server.stdout.readline().strip() == "ready"
            login([program, "--data", data], "juliet@localhost", self.port, self.folder + "/cert.pem")
            return measured([program, "--data", data, "run"], keep, lambda line: line.startswith("{"), server)
        finally:
            server.kill()
            server.wait()

    def close(self):
        pass


class Archive:
    """Messages that Prosody has archived."""

    def __init__(self, folder, count, *options):
        self.folder, self.filled = folder, 0
        self.messages = recorded("alice", count, *options)
        self.server = Prosody(folder + "/prosody")
        self.bob = Client(self.server, "bob")

    def run(self, program, count, keep):
        # The first device of an account finds no keys at the server: no measured session is the first.
        if self.filled == 0:
            self.session(program)
        self.bob.archive(self.messages[self.filled:count])
        self.filled = count
        return self.session(program, keep)

    def session(self, program, keep=None):
        data = self.folder + "/data"
        shutil.rmtree(data, ignore_errors=True)
        login([program, "--data", data], "alice@localhost", self.server.port + 1, self.server.folder + "/certs/localhost.crt")
        return measured([program, "--data", data, "-v", "run"], keep, lambda line: "caught up" in line, settle=5)

    def close(self):
        self.server.stop()


class Pager(Archive):
    """The archive as a C program reads it."""

    def run(self, program, count, keep):
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libxml-2.0", "openssl"], check=True, stdout=subprocess.PIPE, text=True)
        page = self.folder + "/page"
        subprocess.run(["cc", "-O2", "-o", page, HERE + "/../CatchUp/page.c", *flags.stdout.split()], check=True)
        self.bob.archive(self.messages[self.filled:count])
        self.filled = count
        return measured([page, str(self.server.port + 1), "alice", "secret"], keep, lambda line: "messages" in line, prints=True)


class Room:
    """Messages of a crowded room, a component of Prosody's."""

    def __init__(self, folder, count, *options):
        self.folder, self.port = folder, free_port()
        os.environ["COMPONENT_PORT"] = str(self.port)
        # A session that is lost at once: the next process enters the room anew.
        self.server = Prosody(folder + "/prosody", resumable=1)

    def run(self, program, count, keep):
        data = self.folder + "/data"
        shutil.rmtree(data, ignore_errors=True)
        awaited(self.port)
        crowd = subprocess.Popen([sys.executable, CROWD, str(self.port), str(PEOPLE), "0", str(count)], stdout=subprocess.PIPE, text=True)
        try:
            assert crowd.stdout.readline().strip() == "connected"
            login([program, "--data", data], "alice@localhost", self.server.port + 1, self.server.folder + "/certs/localhost.crt")
            subprocess.run(
                [program, "--data", data, "room", "join", "crowd@push.localhost", "--nick", "Juliet"], check=True, timeout=60,
                stdout=subprocess.DEVNULL)
            time.sleep(3)
            return measured([program, "--data", data, "run"], keep, lambda line: "message %06d " % count in line, prints=True)
        finally:
            crowd.kill()
            crowd.wait()

    def close(self):
        self.server.stop()
        del os.environ["COMPONENT_PORT"]


class Encrypted:
    """Encrypted messages that Prosody has archived, each amount between people of its own."""

    def __init__(self, folder, count, *options):
        self.folder, self.pairs = folder, 0
        names = [name + str(pair) for pair in (1, 2) for name in ("alice", "bob")]
        self.server = Prosody(folder + "/prosody", users=names, resumable=1)

    def run(self, program, count, keep):
        self.pairs += 1
        alice, bob = (User(program, name + str(self.pairs), self.folder, self.server) for name in ("alice", "bob"))
        acquaint(alice, bob)
        alice.end()
        time.sleep(3)
        bob.send(count, False, alice.jid)
        bob.end()
        return measured([*alice.words[:3], "-v", "run"], keep, lambda line: "caught up" in line)

    def close(self):
        self.server.stop()


def measured(words, keep, is_last, server=None, prints=False, settle=0):
    """Runs a command until a line, of its errors, of the server, or of what it prints, is the last, and for `settle` seconds more: what a
    first session does once, such as the publication of keys, is then done in each run, and no part of the difference."""
    out = keep or tempfile.mktemp(prefix="kalij-cost-")
    run = subprocess.Popen(
        ["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=" + out, *words],
        stdout=subprocess.PIPE if prints else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if server or prints else subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env={**os.environ, **ENVIRONMENT})
    # The last line may never come.
    limit = threading.Timer(LIMIT, run.kill)
    limit.start()
    if server:
        threading.Thread(target=lambda: (run.wait(), server.kill()), daemon=True).start()
    try:
        if not any(map(is_last, server.stdout if server else run.stdout if prints else run.stderr)):
            raise SystemExit("cost: the messages did not arrive")
        time.sleep(settle)
    finally:
        limit.cancel()
        run.terminate()
        run.wait()
    text = open(out).read()
    if not keep:
        os.remove(out)
    return counts(text)


KINDS = {
    "live": Stream, "receipt": lambda folder, count: Stream(folder, count, "--receipts"), "archive": Archive,
    "room": Room, "encrypted": Encrypted, "pager": Pager,
}


def counts(profile):
    """What a profile has: all instructions, and the calls of functions of libraries."""
    found = dict.fromkeys(COUNTED, 0)
    found["instructions"] = int(re.search(r"^(?:totals|summary): (\d+)", profile, re.M)[1])
    names = {}
    # A function has a number; its name follows where the number is first.
    for number, name, calls in re.findall(r"^c?fn=\((\d+)\)(?: (.*))?(?:\ncalls=(\d+))?", profile, re.M):
        name = names.setdefault(number, name)
        for what, functions in COUNTED.items():
            if calls and name.split("@")[0] in functions:
                found[what] += int(calls)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kalij")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--few", type=int, default=300)
    parser.add_argument("--many", type=int, default=900)
    parser.add_argument("--profile", help="keeps the profiles in this folder, for callgrind_annotate")
    parser.add_argument("--bounds")
    options = parser.parse_args()
    if options.profile:
        os.makedirs(options.profile, exist_ok=True)
    bounds = json.load(open(options.bounds)) if options.bounds else {}
    is_wrong, instructions = False, {}
    preload = tempfile.mktemp(prefix="kalij-cost-", suffix=".so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", preload, HERE + "/preload.c"], check=True)
    ENVIRONMENT["LD_PRELOAD"] = preload
    for kind in options.kind or KINDS:
        folder = tempfile.mkdtemp(prefix="kalij-cost-")
        source = KINDS[kind](folder, options.many)
        try:
            few, many = (
                source.run(options.kalij, count, options.profile and f"{options.profile}/{kind}-{count}")
                for count in (options.few, options.many))
            cost = {what: (many[what] - few[what]) / (options.many - options.few) for what in COUNTED}
            instructions[kind] = cost["instructions"]
            for what in COUNTED:
                bound = bounds.get(kind, {}).get(what)
                over = bound is not None and cost[what] > bound
                is_loose = bound is not None and what == "instructions" and cost[what] + max(SLACK, PART * bound) < bound
                is_wrong |= over or is_loose
                print(f"{kind:<10}{cost[what]:>12,.{0 if what == 'instructions' else 1}f} {what} a message"
                      + (f", at most {bound:,}" if bound is not None else "")
                      + (": TOO MANY" if over else ": THE BOUND IS TOO HIGH" if is_loose else ""), flush=True)
        finally:
            source.close()
            shutil.rmtree(folder, ignore_errors=True)
    os.remove(preload)
    if {"archive", "pager"} <= instructions.keys():
        print(f"archive   {instructions['archive'] / instructions['pager']:>12.1f} times the instructions of the pager")
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
