"""A slow line to a server, programs that connect through it, and what the line saw of them."""
import json, os, queue, signal, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "../../Tests/Programs")
sys.path.insert(0, PROGRAMS)
import servers  # noqa: E402

RATE, DELAY = 4000, 0.5


class Lines:
    """The lines of JSON that a program prints, with the time of each."""

    def __init__(self, words, **options):
        self.seen, self.arrived = [], threading.Condition()
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            now = time.monotonic()
            try:
                fields = json.loads(line)
            except ValueError:
                continue
            with self.arrived:
                self.seen.append((now, fields))
                self.arrived.notify_all()

    def wait(self, test, seconds, start=0):
        """The first line from `start` on that passes: its index, its time and its fields."""
        deadline = time.monotonic() + seconds
        index = start
        with self.arrived:
            while True:
                while index < len(self.seen):
                    if test(self.seen[index][1]):
                        return (index, *self.seen[index])
                    index += 1
                left = deadline - time.monotonic()
                if left <= 0 or not self.arrived.wait(min(left, 0.5)) and self.process.poll() is not None and index >= len(self.seen):
                    raise TimeoutError("not seen within %s s; last: %s" % (seconds, [line for _, line in self.seen[-3:]]))

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self, number=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return self.process.returncode


class Link:
    """link.py before a server: a port for STARTTLS, and one for direct TLS."""

    def __init__(self, server):
        self.port = servers.free_ports(2)
        self.direct = self.port + 1
        self.lines = Lines(["/usr/bin/python3", PROGRAMS + "/link.py", "%d:%d" % (self.port, server.port),
                            "%d:%d" % (self.direct, server.direct)])
        self.lines.wait(lambda line: line["event"] == "ready", 10)

    def do(self, command):
        start = len(self.lines.seen)
        self.lines.tell(command)
        index, _, _ = self.lines.wait(lambda line: line["event"] == "done", 10, start)
        return [line for _, line in self.lines.seen[start:index]]

    def slow(self, rate=RATE, delay=DELAY):
        self.do("rate %g" % rate)
        self.do("delay %g" % delay)

    def fast(self):
        self.slow(0, 0)

    @property
    def mark(self):
        return len(self.lines.seen)

    def connections(self, mark):
        """The counts of all connections that began after a mark, living ones as they are now."""
        numbers = {line["number"] for _, line in self.lines.seen[mark:] if line["event"] == "open"}
        living = self.do("count")
        ended = [line for _, line in self.lines.seen[mark:] if line["event"] == "end"]
        # One that ends meanwhile is in both.
        found = {line["number"]: line for line in living + ended if line["event"] in ("count", "end") and line["number"] in numbers}
        return [found[number] for number in sorted(found)]

    def settled(self, mark, seconds=60):
        """The same once all of them have ended."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = self.connections(mark)
            if found and all(line["event"] == "end" for line in found):
                return found
            time.sleep(0.1)
        return self.connections(mark)

    def end(self):
        self.lines.process.stdin.close()
        self.lines.process.wait(10)


def until(counts, moment):
    """What a connection had cost when something of its last answer was known at a moment of the monotonic clock."""
    up = down = 0
    result = None
    for first, last, way, size, trips in counts["flights"]:
        if counts["began"] + first > moment:
            break
        if way == "up":
            up += size
        else:
            down += size
            result = {"trips": trips, "up": up, "down": down}
    return {**(result or {"trips": 0, "up": up, "down": down}), "seconds": round(moment - counts["began"], 3)}


class Kalij:
    """A directory of Kalij's with alice, who comes through a link."""

    def __init__(self, program, folder, server, link, direct, user="alice"):
        self.words = [os.path.abspath(program), "--data", folder, "--json"]
        port = link.direct if direct else link.port
        subprocess.run(self.words + ["login", user + "@localhost", "--server", "127.0.0.1:%d" % port, "--ca", server.authority]
                       + ["--direct-tls"] * direct, check=True, stdout=subprocess.DEVNULL, timeout=60,
                       env={**os.environ, "KALIJ_PASSWORD": "secret"})

    def run(self):
        return Lines(self.words + ["run"])

    def call(self, *words, seconds=120):
        start = time.monotonic()
        done = subprocess.run(self.words + list(words), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds)
        return done.returncode, time.monotonic() - start, done.stdout, done.stderr

    def settle(self, seconds=8):
        """Online and up to date, and killed: the session can be resumed."""
        run = self.run()
        run.wait(lambda line: line["event"] == "caught_up", 60)
        # The archive is read once more, five seconds after a bind; what has to be acknowledged is.
        time.sleep(seconds)
        run.end()
