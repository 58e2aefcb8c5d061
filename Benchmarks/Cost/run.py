#!/usr/bin/python3
"""What a message costs: instructions (valgrind's callgrind), calls of write, and pages of the write-ahead log, each as the difference
between two amounts of messages, which leaves out start, login and end. Load does not change the counts.

usage: run.py KALIJ [--kind KIND]... [--few N] [--many N] [--profile FOLDER] [--bounds FILE]

With --bounds, each count is compared with the file's; exit status 1 above one of them, or far below one of instructions: a bound
that is never near would not notice what makes a message dearer.

Kinds: live (a chat message of a stream), receipt (one that asks for a receipt, which is sent), archive (a result of Prosody's archive in
the first catch-up).
"""
import argparse, json, os, re, shutil, subprocess, sys, tempfile, threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../Receive"), os.path.join(HERE, "../CatchUp")]
from laboratory import Client, Prosody, recorded
from replay import SCRIPTED, free_port, prepare

# valgrind counts each repetition of a string instruction, which glibc uses from some length on.
ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.cpu.x86_rep_stosb_threshold=1000000:glibc.cpu.x86_rep_movsb_threshold=1000000"}
# By how many instructions a bound may be above the count.
SLACK = 60_000
# Seconds for one count.
LIMIT = 900
COUNTED = {
    "instructions": (), "statements": ("sqlite3_step",), "writes": ("pwrite", "pwrite64", "write", "writev"),
    "allocations": ("malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"),
}


def login(kalij, jid, port, authority):
    subprocess.run(
        kalij + ["login", jid, "--direct-tls", "--server", "127.0.0.1:%d" % port, "--ca", authority], check=True,
        stdout=subprocess.DEVNULL, env={**os.environ, "KALIJ_PASSWORD": "secret"})


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
        self.bob.archive(self.messages[self.filled:count])
        self.filled = count
        data = self.folder + "/data"
        shutil.rmtree(data, ignore_errors=True)
        login([program, "--data", data], "alice@localhost", self.server.port + 1, self.server.folder + "/certs/localhost.crt")
        return measured([program, "--data", data, "-v", "run"], keep, lambda line: "caught up" in line)

    def close(self):
        self.server.stop()


def measured(words, keep, is_last, server=None):
    """Runs a command until a line, of its errors or of the server, is the last."""
    out = keep or tempfile.mktemp(prefix="kalij-cost-")
    run = subprocess.Popen(
        ["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=" + out, *words], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if server else subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env={**os.environ, **ENVIRONMENT})
    # The last line may never come.
    limit = threading.Timer(LIMIT, run.kill)
    limit.start()
    if server:
        threading.Thread(target=lambda: (run.wait(), server.kill()), daemon=True).start()
    try:
        if not any(map(is_last, server.stdout if server else run.stderr)):
            raise SystemExit("cost: the messages did not arrive")
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
    is_wrong = False
    clock = tempfile.mktemp(prefix="kalij-cost-", suffix=".so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", clock, HERE + "/clock.c"], check=True)
    ENVIRONMENT["LD_PRELOAD"] = clock
    for kind in options.kind or KINDS:
        folder = tempfile.mkdtemp(prefix="kalij-cost-")
        source = KINDS[kind](folder, options.many)
        try:
            few, many = (
                source.run(options.kalij, count, options.profile and f"{options.profile}/{kind}-{count}")
                for count in (options.few, options.many))
            cost = {what: (many[what] - few[what]) / (options.many - options.few) for what in COUNTED}
            for what in COUNTED:
                bound = bounds.get(kind, {}).get(what)
                over = bound is not None and cost[what] > bound
                is_loose = bound is not None and what == "instructions" and cost[what] + SLACK < bound
                is_wrong |= over or is_loose
                print(f"{kind:<10}{cost[what]:>12,.{0 if what == 'instructions' else 1}f} {what} a message"
                      + (f", at most {bound:,}" if bound is not None else "")
                      + (": TOO MANY" if over else ": THE BOUND IS TOO HIGH" if is_loose else ""), flush=True)
        finally:
            source.close()
            shutil.rmtree(folder, ignore_errors=True)
    os.remove(clock)
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
