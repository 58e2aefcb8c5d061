#!/usr/bin/python3
"""A whole `kalij wake`, from exec to exit, with 1 and with many waiting messages on a loopback Prosody, in turn with a
C program on OpenSSL and libxml2 that only connects and resumes.

usage: run.py KALIJ [--rounds N] [--waiting N] [--json]

Times are from before exec to the first printed line: the first notification, or "resumed". Exit status 1 over a bound:
peak resident memory 24 MB with one waiting message and 28 MB with many, 1.5 times the time of the C program.
"""
import argparse, hashlib, json, os, re, signal, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../CatchUp"))
from laboratory import Client, Prosody  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("kalij")
parser.add_argument("--rounds", type=int, default=21)
parser.add_argument("--waiting", type=int, default=5000)
parser.add_argument("--json", action="store_true")
options = parser.parse_args()


def compiled(folder, name, *flags):
    subprocess.run(["cc", "-O2", "-o", folder + "/" + name, HERE + "/%s.c" % name, *flags], check=True)
    return folder + "/" + name


def timed(peak, words):
    """Runs a program to its end: milliseconds to its first line and to its end, peak kilobytes, and the output."""
    start = time.monotonic()
    process = subprocess.Popen([peak] + words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    output = os.read(process.stdout.fileno(), 65536)
    first = time.monotonic()
    while piece := os.read(process.stdout.fileno(), 65536):
        output += piece
    errors = process.stderr.read()
    assert process.wait() == 0, "%s ended with %d: %r %r" % (words[0], process.returncode, errors, output[-300:])
    return 1000 * (first - start), 1000 * (time.monotonic() - start), int(errors.split()[-1]), output


class Floor:
    """The C program, with a session of its own account."""
    def __init__(self, folder, server):
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libxml-2.0", "openssl"], check=True, capture_output=True,
                               text=True).stdout.split()
        program, self.peak = compiled(folder, "resume", *flags), folder + "/peak"
        stored = open(server.folder + "/data/localhost/accounts/carol.dat").read()
        salt = re.search(r'\["salt"\] = "([^"]*)"', stored).group(1)
        rounds = int(re.search(r'\["iteration_count"\] = (\d+)', stored).group(1))
        salted = hashlib.pbkdf2_hmac("sha1", b"secret", salt.encode(), rounds).hex()
        self.words = [program, str(server.port + 1), server.folder + "/certs/localhost.crt", "carol", salted]
        self.session = timed(self.peak, self.words)[3].decode().strip()

    def resume(self):
        first, _, memory, output = timed(self.peak, self.words + [self.session, "0"])
        assert output == b"resumed\n", output
        return first, memory


class Kalij:
    def __init__(self, folder, server):
        self.words = [os.path.abspath(options.kalij), "--data", folder + "/kalij", "--json"]
        self.peak = folder + "/peak"
        subprocess.run(
            self.words + ["login", "alice@localhost", "--direct-tls", "--server", "127.0.0.1:%d" % (server.port + 1), "--ca",
                          server.folder + "/certs/localhost.crt"], check=True, stdout=subprocess.DEVNULL,
            env={**os.environ, "KALIJ_PASSWORD": "secret"})
        run = subprocess.Popen(self.words + ["run"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        for line in run.stdout:
            if '"caught_up"' in line:
                break
        # The archive is read once more, five seconds after a bind.
        time.sleep(7)
        run.send_signal(signal.SIGTERM)
        run.wait()
        self.bob = Client(server, "bob")

    def wake(self, waiting):
        """Has so many messages wait, then wakes; milliseconds to the first notification and to the end, peak kilobytes."""
        for number in range(waiting):
            message = b"<message to='alice@localhost' type='chat' id='%d-%d'><body>message %d</body></message>" % (
                time.monotonic_ns(), number, number)
            if number % 100 == 99 or number == waiting - 1:
                identifier = b"n%d" % time.monotonic_ns()
                self.bob.say(message + b"<iq type='get' id='" + identifier
                             + b"' to='localhost'><ping xmlns='urn:xmpp:ping'/></iq>", identifier)
            else:
                self.bob.connection.sendall(message)
        first, end, memory, output = timed(self.peak, self.words + ["wake"])
        shown = output.count(b'"kind":"show"')
        assert shown == waiting, "%d of %d messages were notified of" % (shown, waiting)
        return first, end, memory


def measure(folder):
    server = Prosody(folder + "/prosody", ["alice", "bob", "carol"])
    compiled(folder, "peak")
    try:
        floor, kalij = Floor(folder, server), Kalij(folder, server)
        floor.resume(), kalij.wake(1)  # the caches
        rounds = []
        for number in range(options.rounds):
            # In turn, so that a slowing machine slows both.
            rounds.append((*kalij.wake(1), *floor.resume()))
            print("\rround %d of %d" % (number + 1, options.rounds), end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        many = kalij.wake(options.waiting)
    finally:
        server.stop()
    first, end, memory, floor_first, floor_memory = zip(*rounds)
    return {"rounds": options.rounds, "first_ms": round(statistics.median(first), 1), "end_ms": round(statistics.median(end), 1),
            "floor_ms": round(statistics.median(floor_first), 1),
            "ratio": round(statistics.median(a / b for a, b in zip(first, floor_first)), 2),
            "ratio_of_medians": round(statistics.median(first) / statistics.median(floor_first), 2),
            "peak_kb": max(memory), "floor_peak_kb": max(floor_memory), "waiting": options.waiting,
            "many_first_ms": round(many[0], 1), "many_end_ms": round(many[1], 1), "many_peak_kb": many[2]}


def main():
    with tempfile.TemporaryDirectory(prefix="kalij-bench-", ignore_cleanup_errors=True) as folder:
        result = measure(folder)
    if options.json:
        print(json.dumps(result))
    else:
        print("waking, medians of %(rounds)d rounds" % result)
        print("  kalij wake, 1 message      %(first_ms)8.1f ms to the notification, %(end_ms)8.1f ms to the end, peak %(peak_kb)d KB"
              % result)
        print("  C, connects and resumes    %(floor_ms)8.1f ms                                       peak %(floor_peak_kb)d KB" % result)
        print("  ratio                      %(ratio)8.2f" % result)
        print("  kalij wake, %(waiting)d messages %(many_first_ms)7.1f ms to the first,      %(many_end_ms)8.1f ms to the end, "
              "peak %(many_peak_kb)d KB" % result)
    good = result["ratio"] <= 1.5 and result["peak_kb"] <= 24 * 1024 and result["many_peak_kb"] <= 28 * 1024
    return 0 if good else 1


sys.exit(main())
