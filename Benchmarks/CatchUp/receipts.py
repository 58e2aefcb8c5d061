#!/usr/bin/python3
"""Reading N missed messages from Prosody's archive: messages that ask for receipts (XEP-0184), in turn with messages that do not.

usage: receipts.py KALIJ [--messages N] [--rounds N] [--json]

Each round has two accounts of its own: a given receipt stands in the archive. Time and CPU time are from the session to
the archive's end (in the output of `kalij -v run`); until then the receipts are owed. Then the receipts leave; the time
until the last receipt has left is shown, too. Exit status 1 if reading with receipts owed takes more than 1.3 times the time.
"""
import argparse, json, os, signal, sqlite3, statistics, subprocess, sys, tempfile, time
from laboratory import Client, Prosody, recorded, usage

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("kalij")
parser.add_argument("--messages", type=int, default=2000)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--json", action="store_true")
options = parser.parse_args()
KINDS = {"asking": ["--receipts"], "plain": []}


def command(folder, user):
    return [options.kalij, "--data", "%s/%s" % (folder, user)]


def running(folder, user):
    """Runs until the archive is read; returns the process, the seconds and the CPU seconds."""
    run = subprocess.Popen(command(folder, user) + ["-v", "run"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           stdin=subprocess.DEVNULL, text=True)
    for line in run.stderr:
        if "online as" in line:
            start, cpu = time.monotonic(), usage(run.pid)
        if "caught up" in line:
            return run, time.monotonic() - start, usage(run.pid) - cpu
    raise SystemExit("kalij ended before it was caught up")


def end(run):
    run.send_signal(signal.SIGTERM)
    run.wait()


def number(folder, user, sql):
    database = sqlite3.connect("file:%s/%s/kalij.db?mode=ro" % (folder, user), uri=True)
    try:
        return database.execute(sql).fetchone()[0]
    finally:
        database.close()


def wait(condition):
    deadline = time.monotonic() + 120
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("receipts still wait after 120 s")
        time.sleep(0.02)


def prepare(folder, server, user):
    """The account has written to bob, who may have receipts therefore."""
    subprocess.run(
        command(folder, user) + ["login", user + "@localhost", "--direct-tls", "--server", "127.0.0.1:%d" % (server.port + 1),
                                 "--ca", server.folder + "/certs/localhost.crt"], check=True, stdout=subprocess.DEVNULL,
        env={**os.environ, "KALIJ_PASSWORD": "secret"})
    run, _, _ = running(folder, user)
    subprocess.run(command(folder, user) + ["send", "bob@localhost", "hello", "--confirm"], check=True, stdout=subprocess.DEVNULL)
    end(run)


def fill(server, user, kind):
    Client(server, "bob").archive(recorded(user, options.messages, *KINDS[kind]))


def measure(folder):
    users = [(kind, "%s%d" % (kind, place)) for place in range(options.rounds) for kind in KINDS]
    server = Prosody(folder + "/prosody", ["bob"] + [user for _, user in users], resumable=1)
    seconds, cpu, left = {kind: [] for kind in KINDS}, {kind: [] for kind in KINDS}, []
    try:
        for place, (kind, user) in enumerate(users):
            prepare(folder, server, user)
            # The session is over: all messages come from the archive.
            time.sleep(3)
            fill(server, user, kind)
            start = time.monotonic()
            run, wall, busy = running(folder, user)
            seconds[kind].append(wall)
            cpu[kind].append(busy)
            stored = number(folder, user, "SELECT count(*) FROM message WHERE direction = 'in' AND shown = 1")
            assert stored == options.messages, "kalij stored %d of %d messages" % (stored, options.messages)
            if kind == "asking":
                wait(lambda: number(folder, user, "SELECT (SELECT count(*) FROM owed_receipt) + (SELECT count(*) FROM queue)") == 0)
                left.append(time.monotonic() - start)
                given = number(folder, user, "SELECT count(*) FROM message WHERE direction = 'out' AND shown = 0")
                assert given == options.messages, "%d of %d receipts were given" % (given, options.messages)
            end(run)
            print("\r%d of %d" % (place + 1, len(users)), end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    finally:
        server.stop()
    median = {kind: (statistics.median(seconds[kind]), statistics.median(cpu[kind])) for kind in KINDS}
    return {"messages": options.messages, "rounds": options.rounds, "seconds": round(median["asking"][0], 3),
            "plain_seconds": round(median["plain"][0], 3), "ratio": round(median["asking"][0] / median["plain"][0], 2),
            "cpu_ratio": round(median["asking"][1] / median["plain"][1], 2), "left_seconds": round(statistics.median(left), 3)}


def main():
    with tempfile.TemporaryDirectory(prefix="kalij-bench-", ignore_cleanup_errors=True) as folder:
        result = measure(folder)
    if options.json:
        print(json.dumps(result))
    else:
        print("reading %(messages)d missed messages, medians of %(rounds)d rounds" % result)
        print("  with receipts owed   %(seconds)8.3f s; all receipts had left after %(left_seconds).3f s" % result)
        print("  without              %(plain_seconds)8.3f s" % result)
        print("  ratio                %(ratio)8.2f    CPU %(cpu_ratio).2f" % result)
    return 0 if result["ratio"] <= 1.3 else 1


sys.exit(main())
