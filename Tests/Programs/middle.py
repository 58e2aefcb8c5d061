#!/usr/bin/python3
"""A man in the middle with a valid certificate: ends TLS at both sides, and edits what client and server say to one another.

  middle.py --ca CERTIFICATE KEY [--rule JSON]... LISTEN:TARGET... [direct:LISTEN:TARGET]...

The ports are of 127.0.0.1; `direct:` is for TLS from the first byte, else the way into TLS is STARTTLS, and edited like the rest. The
certificate is a new one for localhost that the given authority signs, so a client that trusts the authority notices nothing; only a
binding to the channel (tls-exporter, tls-server-end-point) does.

What is said comes in letters: a stream's header, a whole element of the stream, or what is between. A rule is a JSON object:
  {"way": "up" or "down", "match": REGEX, "do": WHAT, "text": TEXT, "seconds": N, "times": N}
and is for letters that the regular expression finds something in, `times` of them (without: all). WHAT is
  replace   every match becomes the text (\\1 is a group); without a text it goes
  swallow   the letter does not arrive
  answer    the letter does not arrive, and its sender gets the text
  insert    the text comes after the letter
  delay     the letter and all after it, both ways, wait so many seconds
  close     the letter arrives, and both sides are closed; "cut" does not let the letter arrive
  silence   the letter arrives, and nothing after it in either direction; the connection stays
  hush      the letter does not arrive, nor does anything after it; the connection stays
Letters that arrive together leave together, so a client's flight stays a flight.

Lines of JSON on standard input: {"rule": RULE}; {"clear": true} removes all rules; {"replay": LINK} says to the real server, on a
new connection of the same kind, all that the client said inside TLS on that connection, as it said it (nothing edited), each write
after a pause. {"close": LINK} closes a connection. Each is answered by a line "done".

Lines on standard output: "ready"; "open", "tls" and "end" with the number of the connection as "link"; "up" and "down" with each
letter as it came ("text") and as it was passed on ("sent"; null if it was not), whether inside TLS, and the number of the write that
it came in; "replayed" with the "answer". Ends with its standard input.
"""
import argparse, json, os, re, select, socket, ssl, subprocess, sys, tempfile, threading, time

LOCK = threading.Lock()
LONGEST = 4 << 20
KEPT = 1 << 20


def say(**fields):
    with LOCK:
        print(json.dumps({**fields, "at": time.monotonic()}), flush=True)


class Rule:
    def __init__(self, fields):
        self.way, self.what = fields["way"], fields["do"]
        self.match = re.compile(fields["match"], re.S)
        self.text, self.seconds, self.times = fields.get("text", ""), fields.get("seconds", 0), fields.get("times")

    def takes(self, way, letter):
        """Whether the rule is for this letter. Counts."""
        if self.way != way or self.times == 0 or not self.match.search(letter):
            return False
        if self.times is not None:
            self.times -= 1
        return True


class State:
    rules, recorded, serial = [], {}, 0


TAG = re.compile(r"""<(?:\?.*?\?>|!--.*?-->|!\[CDATA\[.*?\]\]>|(?P<close>/)?(?P<name>[^\s/>]+)(?:[^>"']|"[^"]*"|'[^']*')*?(?P<empty>/)?>)""", re.S)


class Letters:
    """Cuts what comes into letters."""

    def __init__(self):
        self.text, self.scanned, self.depth = "", 0, 0

    def add(self, text):
        self.text += text
        found, start = [], 0
        while True:
            at = self.text.find("<", self.scanned)
            if at < 0 or at == len(self.text):
                if self.depth == 0:
                    at = len(self.text)
                    if at > start:
                        found.append(self.text[start:at])
                    start = self.scanned = at
                break
            match = TAG.match(self.text, at)
            if not match:
                break
            if self.depth == 0 and at > start:
                found.append(self.text[start:at])
                start = at
            name, self.scanned = match.group("name"), match.end()
            is_stream = name == "stream:stream"
            if name and not is_stream and not match.group("empty"):
                self.depth += -1 if match.group("close") else 1
            if self.depth <= 0:
                self.depth = 0
                found.append(self.text[start:match.end()])
                start = match.end()
        self.text, self.scanned = self.text[start:], self.scanned - start
        return found

    def rest(self):
        """What came without an end: passed on if it grows too long."""
        text, self.text, self.scanned, self.depth = self.text, "", 0, 0
        return text


class End(Exception):
    pass


class Connection:
    def __init__(self, client, target, direct):
        self.client, self.target, self.direct = client, target, direct
        with LOCK:
            State.serial += 1
            self.number = State.serial
        self.letters, self.rests = {"up": Letters(), "down": Letters()}, {"up": b"", "down": b""}
        self.silent, self.is_inside, self.writes, self.kept = False, False, 0, 0
        State.recorded[self.number] = (target, direct, [])

    def wrap(self):
        """TLS with both; nothing of a client that comes before its turn is lost, because a client waits for <proceed/>."""
        self.server = to_server(self.server)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*CERTIFICATE)
        self.client.settimeout(20)
        self.client = context.wrap_socket(self.client, server_side=True)
        self.is_inside = True
        self.letters = {"up": Letters(), "down": Letters()}
        say(event="tls", link=self.number, version=self.client.version(), reused=self.client.session_reused)

    def apply(self, way, letter):
        """The letter as it is passed on, "" for not at all; what is to be done behind it; and what its sender is told."""
        sent, back, then = letter, "", None
        for rule in list(State.rules):
            if not rule.takes(way, letter):
                continue
            if rule.what == "replace":
                sent = rule.match.sub(rule.text, sent)
            elif rule.what in ("swallow", "answer"):
                sent, back = "", rule.text if rule.what == "answer" else back
            elif rule.what == "insert":
                sent += rule.text
            elif rule.what == "delay":
                time.sleep(rule.seconds)
            elif rule.what in ("close", "cut"):
                sent, then = sent if rule.what == "close" else "", "close"
            elif rule.what in ("silence", "hush"):
                sent, then = sent if rule.what == "silence" else "", "silence"
        return sent, back, then

    def pass_on(self, way, data):
        """All letters of a read are passed on in one write."""
        if self.is_inside and way == "up" and self.kept < KEPT:
            self.kept += len(data)
            State.recorded[self.number][2].append(data)
        self.writes += 1
        data = self.rests[way] + data
        # A character may be cut in two.
        text, cut = "", 0
        for cut in range(min(4, len(data) + 1)):
            try:
                text = data[:len(data) - cut].decode()
                break
            except UnicodeDecodeError:
                continue
        else:
            text, cut = data.decode(errors="replace"), 0
        self.rests[way] = data[len(data) - cut:] if cut else b""
        letters = self.letters[way].add(text)
        if len(self.letters[way].text) > LONGEST:
            letters.append(self.letters[way].rest())
        out, back, upgrade = "", "", False
        for letter in letters:
            if self.silent:
                say(event=way, link=self.number, tls=self.is_inside, text=letter, sent=None, write=self.writes)
                continue
            sent, answer, then = self.apply(way, letter)
            say(event=way, link=self.number, tls=self.is_inside, text=letter, sent=sent or None, write=self.writes)
            out, back = out + sent, back + answer
            if then == "close":
                self.write(way, out)
                raise End
            self.silent = self.silent or then == "silence"
            if way == "down" and not self.is_inside and "<proceed" in sent:
                upgrade = True
        self.write(way, out)
        self.write("down" if way == "up" else "up", back)
        if upgrade:
            self.wrap()

    def write(self, way, text):
        if text:
            target = self.server if way == "up" else self.client
            target.settimeout(20)
            target.sendall(text.encode())

    def run(self):
        self.server = None
        try:
            self.server = socket.create_connection(("127.0.0.1", self.target), timeout=10)
            say(event="open", link=self.number, direct=self.direct)
            for one in (self.client, self.server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.direct:
                self.wrap()
            while True:
                self.turn()
        except (End, OSError, ValueError):
            pass
        for way in ("up", "down"):
            rest = self.letters[way].rest()
            if rest:
                say(event=way, link=self.number, tls=self.is_inside, text=rest, sent=None, write=self.writes)
        for one in (self.client, self.server):
            if one:
                one.close()
        CONNECTIONS.pop(self.number, None)
        say(event="end", link=self.number)

    def turn(self):
        pending = [one for one in (self.client, self.server) if isinstance(one, ssl.SSLSocket) and one.pending()]
        ready = pending or select.select([self.client, self.server], [], [], 1)[0]
        for one in ready:
            client, way = self.client, "up" if one is self.client else "down"
            # What is ready may be a ticket of TLS, and no text.
            one.setblocking(False)
            try:
                data = one.recv(65536)
            except (ssl.SSLWantReadError, BlockingIOError):
                continue
            if not data:
                if self.silent and way == "down":
                    time.sleep(0.2)
                    continue
                raise End
            self.pass_on(way, data)
            if client is not self.client:
                # Inside TLS from now on: the other socket of this turn is an old one.
                return


def to_server(plain):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    plain.settimeout(20)
    return context.wrap_socket(plain, server_hostname="localhost")


def read_until_quiet(connection, seconds):
    text = b""
    connection.settimeout(seconds)
    try:
        while data := connection.recv(65536):
            text += data
    except (TimeoutError, ssl.SSLError, OSError):
        pass
    return text.decode(errors="replace")


def replay(number):
    """Says everything again, as a thief would who has read it all."""
    target, direct, writes = State.recorded[number]
    answer = ""
    try:
        plain = socket.create_connection(("127.0.0.1", target), timeout=10)
        if not direct:
            plain.sendall(b"<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' to='localhost' "
                          b"version='1.0'><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
            read_until_quiet(plain, 0.5)
        connection = to_server(plain)
        for data in writes:
            connection.sendall(data)
            answer += read_until_quiet(connection, 0.5)
        connection.close()
    except OSError as problem:
        answer += " (%s)" % problem
    say(event="replayed", link=number, answer=answer)


CONNECTIONS = {}


def accept(listener, target, direct):
    while True:
        client, _ = listener.accept()
        connection = Connection(client, target, direct)
        CONNECTIONS[connection.number] = connection
        threading.Thread(target=connection.run, daemon=True).start()


def make_certificate(folder, authority, key):
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE",
             "-CA", authority, "-CAkey", key, "-keyout", folder + "/middle.key", "-out", folder + "/middle.crt"]
    subprocess.run(words, check=True, stderr=subprocess.DEVNULL, timeout=30)
    return folder + "/middle.crt", folder + "/middle.key"


def main():
    global CERTIFICATE
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ca", nargs=2, required=True)
    parser.add_argument("--rule", action="append", default=[])
    parser.add_argument("ports", nargs="+")
    options = parser.parse_args()
    State.rules = [Rule(json.loads(rule)) for rule in options.rule]
    with tempfile.TemporaryDirectory(prefix="kalij-middle-") as folder:
        CERTIFICATE = make_certificate(folder, *options.ca)
        for ports in options.ports:
            direct = ports.startswith("direct:")
            near, far = map(int, ports.removeprefix("direct:").split(":"))
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", near))
            listener.listen(64)
            threading.Thread(target=accept, args=(listener, far, direct), daemon=True).start()
        say(event="ready")
        for line in sys.stdin:
            command = json.loads(line)
            if "rule" in command:
                State.rules.append(Rule(command["rule"]))
            elif "clear" in command:
                State.rules = []
            elif "replay" in command:
                replay(command["replay"])
            elif "close" in command and command["close"] in CONNECTIONS:
                CONNECTIONS[command["close"]].client.shutdown(socket.SHUT_RDWR)
            say(event="done")


if __name__ == "__main__":
    main()
