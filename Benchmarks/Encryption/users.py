"""Users of a Prosody, each with a `kalij run`, whose messages are encrypted (OMEMO)."""
import json, os, signal, subprocess, time


class User:
    def __init__(self, kalij, name, folder, server):
        self.jid = name + "@localhost"
        self.words = [os.path.abspath(kalij), "--data", "%s/%s" % (folder, name), "--json"]
        subprocess.run(
            self.words + ["login", self.jid, "--direct-tls", "--server", "127.0.0.1:%d" % (server.port + 1), "--ca",
                          server.folder + "/certs/localhost.crt"], check=True, stdout=subprocess.DEVNULL,
            env={**os.environ, "KALIJ_PASSWORD": "secret"})

    def run(self, *words):
        return subprocess.run(self.words + list(words), check=True, capture_output=True, text=True).stdout

    def begin(self):
        self.process = subprocess.Popen(self.words + ["run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.until('"caught_up"')
        deadline = time.monotonic() + 30
        while subprocess.run(self.words + ["omemo"], capture_output=True).returncode:
            assert time.monotonic() < deadline, "the keys were not published within 30 s"
            time.sleep(0.1)

    def until(self, text, count=1):
        for line in self.process.stdout:
            count -= text in line and '"body":"hello"' not in line
            if not count:
                return
        raise SystemExit("kalij ended before it said " + text)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def send(self, count, plain, to="alice@localhost"):
        # In portions: what is printed has to be read meanwhile.
        for begin in range(0, count, 50):
            portion = range(begin, min(begin + 50, count))
            for number in portion:
                self.process.stdin.write(json.dumps({
                    "command": "send", "to": to, "body": "message %06d" % number, "plain": plain}) + "\n")
            self.until('"state":"acked"', len(portion))


def acquaint(one, other):
    """Each has a session with the other, which the other has proven to have; both run."""
    one.begin()
    other.begin()
    other.run("omemo", "on", one.jid)
    one.run("omemo", "on", other.jid)
    one.run("send", other.jid, "hello", "--confirm")
    other.run("send", one.jid, "hello", "--confirm")
    time.sleep(7)
