#!/usr/bin/python3
"""`kalij wake` with encrypted messages waiting, in turn with plain ones of the same length, on a loopback Prosody. The sender is a
`kalij run` of another account.

usage: run.py KALIJ [--rounds N] [--waiting N] [--json]

Each round: N messages wait and one `wake` shows them all; then one message waits. Times are from before exec to the first
printed line and to the end. Exit status 1 over a bound: twice the time a message, 1.5 times the time to the first
notification, 24 MB of resident memory.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../CatchUp"))
from laboratory import Prosody  # noqa: E402
from users import User, acquaint  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("kalij")
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--waiting", type=int, default=5000)
parser.add_argument("--json", action="store_true")
options = parser.parse_args()


def wake(folder, alice, shown):
    """Milliseconds to the first notification and to the end, CPU milliseconds, peak kilobytes."""
    start = time.monotonic()
    process = subprocess.Popen([folder + "/peak"] + alice.words + ["wake"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    output = os.read(process.stdout.fileno(), 65536)
    first = time.monotonic()
    while piece := os.read(process.stdout.fileno(), 65536):
        output += piece
    errors = process.stderr.read()
    assert process.wait() == 0, "wake ended with %d: %r" % (process.returncode, errors)
    end = time.monotonic()
    found = output.count(b'"kind":"show"')
    assert found == shown, "%d of %d messages were notified of" % (found, shown)
    assert b'"body":"message' in output, output[:300]
    return 1000 * (first - start), 1000 * (end - start), int(errors.split()[-1])


def measure(folder):
    server = Prosody(folder + "/prosody")
    subprocess.run(["cc", "-O2", "-o", folder + "/peak", HERE + "/../Wake/peak.c"], check=True)
    try:
        alice, bob = (User(options.kalij, name, folder, server) for name in ("alice", "bob"))
        acquaint(alice, bob)
        alice.end()
        subprocess.run(alice.words + ["wake"], stdout=subprocess.DEVNULL)
        rounds = []
        for number in range(options.rounds):
            row = []
            # In turn, so that a slowing machine slows both.
            for plain in (True, False):
                bob.send(options.waiting, plain)
                row.append(wake(folder, alice, options.waiting))
                bob.send(1, plain)
                row.append(wake(folder, alice, 1))
            rounds.append(row)
            print("\rround %d of %d" % (number + 1, options.rounds), end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        bob.end()
    finally:
        server.stop()

    def micro(row, place):
        return 1000 * (row[place][1] - row[place + 1][1]) / (options.waiting - 1)

    return {"rounds": options.rounds, "waiting": options.waiting,
            "plain_us": round(statistics.median(micro(row, 0) for row in rounds), 1),
            "encrypted_us": round(statistics.median(micro(row, 2) for row in rounds), 1),
            "ratio": round(statistics.median(micro(row, 2) / micro(row, 0) for row in rounds), 2),
            "first_ms": round(statistics.median(row[3][0] for row in rounds), 1),
            "first_plain_ms": round(statistics.median(row[1][0] for row in rounds), 1),
            "first_ratio": round(statistics.median(row[3][0] / row[1][0] for row in rounds), 2),
            "peak_kb": max(row[2][2] for row in rounds), "plain_peak_kb": max(row[0][2] for row in rounds)}


def main():
    with tempfile.TemporaryDirectory(prefix="kalij-bench-", ignore_cleanup_errors=True) as folder:
        result = measure(folder)
    if options.json:
        print(json.dumps(result))
    else:
        print("waking with %(waiting)d messages waiting, medians of %(rounds)d rounds" % result)
        print("  encrypted  %(encrypted_us)8.1f us a message, peak memory %(peak_kb)d KB; one message: %(first_ms).1f ms" % result)
        print("  plain      %(plain_us)8.1f us a message, peak memory %(plain_peak_kb)d KB; one message: %(first_plain_ms).1f ms" % result)
        print("  ratio      %(ratio)8.2f; to the first notification %(first_ratio).2f" % result)
    good = result["ratio"] <= 2 and result["first_ratio"] <= 1.5 and result["peak_kb"] <= 24 * 1024
    return 0 if good else 1


sys.exit(main())
