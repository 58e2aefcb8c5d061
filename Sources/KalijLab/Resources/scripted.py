#!/usr/bin/python3
"""A scripted XMPP server, for behaviour that real servers cannot be made to show. One client at a time, direct TLS on loopback.

usage: scripted.py --port N --cert FILE --key FILE MODE [ARG]

modes:
  replay FILE   after the client has enabled stream management, sends the bytes of FILE at full speed; prints one JSON
                line {"stanzas": N, "seconds": T, "requests": R, "answered": T2} once the client has acknowledged all of its
                stanzas, and has sent a message for each receipt that FILE asks for
  idle          a session in which nothing happens
  unasked       one that acknowledges unasked, and answers questions to romeo late
  register      registers accounts by a form with a picture, and logs them in; see Registrar
  silent        takes connections and never says anything
  garbage, dtd, huge (100 MB in one stanza), header-only, wrong-namespace
                what it sends instead of a stream, or, with `--late`, inside an established session
--on-resume refuses resumptions (refuse, the default), or closes the connection (close), or ends the stream with an error
(error), like real servers. --linger waits so many seconds before ending a connection that the client has ended.
Prints "ready" when listening and "closed" for each ended connection.
"""
import argparse, base64, json, os, re, select, socket, ssl, sys, time

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--cert", required=True)
parser.add_argument("--key", required=True)
parser.add_argument("--late", action="store_true")
parser.add_argument("--on-resume", choices=["refuse", "close", "error"], default="refuse")
parser.add_argument("--linger", type=float, default=0)
parser.add_argument("mode")
parser.add_argument("file", nargs="?")
options = parser.parse_args()

HEADER = (b"<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' "
          b"from='localhost' id='scripted' version='1.0'>")
BAD = {
    "garbage": [b"\x00\xff\xfe not xml at all <<<<"],
    "dtd": [b"<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>"],
    "header-only": [HEADER],
    "wrong-namespace": [b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>"],
    "huge": [b"<message xmlns='jabber:client'><body>"] + [b"x" * 1000000] * 100 + [b"</body></message>"],
}


def say(text):
    print(text, flush=True)


class Closed(Exception):
    pass


class Client:
    def __init__(self, connection):
        self.connection = connection
        self.buffer = b""

    def until(self, pattern, seconds=300):
        """Reads until `pattern` matches; returns the match and forgets everything up to its end."""
        deadline = time.monotonic() + seconds
        while True:
            match = re.search(pattern, self.buffer)
            if match:
                self.buffer = self.buffer[match.end():]
                return match
            self.connection.settimeout(max(0.01, deadline - time.monotonic()))
            piece = self.connection.recv(65536)
            if not piece:
                raise Closed
            self.buffer += piece

    def send(self, data):
        self.connection.settimeout(300)
        self.connection.sendall(data)


def negotiate(client):
    """PLAIN, bind, XEP-0198; a resumption is refused, so that each connection begins anew."""
    client.until(rb"<stream:stream[^>]*>")
    client.send(HEADER + b"<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>"
                b"<mechanism>PLAIN</mechanism></mechanisms></stream:features>")
    client.until(rb"</auth>")
    client.send(b"<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>")
    client.until(rb"<stream:stream[^>]*>")
    client.send(HEADER + b"<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>"
                b"<sm xmlns='urn:xmpp:sm:3'/></stream:features>")
    while True:
        match = client.until(rb"<resume [^>]*>|<iq [^>]*>.*?</iq>")
        if match.group().startswith(b"<resume"):
            if options.on_resume == "error":
                client.send(b"<stream:error><internal-server-error xmlns='urn:ietf:params:xml:ns:xmpp-streams'/>"
                            b"</stream:error></stream:stream>")
            if options.on_resume != "refuse":
                raise Closed
            client.send(b"<failed xmlns='urn:xmpp:sm:3'><item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></failed>")
            continue
        identifier = re.search(rb"id=['\"]([^'\"]*)", match.group()).group(1)
        client.send(b"<iq type='result' id='" + identifier + b"'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                    b"<jid>juliet@localhost/scripted</jid></bind></iq>")
        break
    client.until(rb"<enable [^>]*>")
    client.send(b"<enabled xmlns='urn:xmpp:sm:3' id='scripted' resume='true'/>")


ROSTER = b"<query xmlns='jabber:iq:roster'>%s</query>" % b"".join(
    b"<item jid='contact%d@localhost' subscription='both'/>" % number for number in range(200))


def answer_iqs(client):
    """Answers the question for the roster, and other questions with an error, until the client announces its presence; returns
    how many."""
    answered = 0
    while True:
        match = client.until(rb"<iq [^>]*>.*?</iq>|<presence[^>]*>")
        if match.group().startswith(b"<presence"):
            return answered
        identifier = re.search(rb"id=['\"]([^'\"]*)", match.group()).group(1)
        if b"jabber:iq:roster" in match.group():
            client.send(b"<iq type='result' id='" + identifier + b"'>" + ROSTER + b"</iq>")
        else:
            client.send(b"<iq type='error' id='" + identifier + b"'><error type='cancel'><service-unavailable "
                        b"xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>")
        answered += 1


class Replaying:
    """What a replay has sent and seen."""

    def __init__(self, client, data, answered):
        self.client, self.data, self.place, self.out = client, data, 0, b""
        # The presence and the answered questions are the client's first stanzas.
        self.handled, self.messages, self.height, self.rest = answered + 1, 0, 0, client.buffer
        client.buffer = b""

    def send(self):
        if not self.out and self.place < len(self.data):
            # Acknowledgements go between stanzas.
            end = self.data.find(b"<message", self.place + 65536)
            end = len(self.data) if end < 0 else end
            self.out, self.place = self.data[self.place:end], end
            if self.place == len(self.data):
                self.out += b"<r xmlns='urn:xmpp:sm:3'/>"
        self.out = self.out[self.client.connection.send(self.out):]

    def wants(self):
        return bool(self.out) or self.place < len(self.data)

    def read(self):
        piece = self.client.connection.recv(65536)
        if not piece:
            raise Closed
        text = self.rest + piece
        # A tag that is not whole yet waits for the rest.
        end = text.rfind(b">") + 1
        text, self.rest = text[:end], text[end:]
        for tag in re.findall(rb"<(?:message|iq|presence|r|a)[ />][^>]*", text):
            if tag.startswith(b"<a "):
                self.height = int(re.search(rb"h=['\"](\d+)", tag).group(1))
            elif tag.startswith(b"<r "):
                self.out += b"<a xmlns='urn:xmpp:sm:3' h='%d'/>" % self.handled
            else:
                self.handled += 1
                self.messages += tag.startswith(b"<message")


def replay(client, path):
    data = open(path, "rb").read()
    stanzas = len(re.findall(rb"<(?:message|iq|presence)[ />]", data))
    receipts = data.count(b"<request xmlns='urn:xmpp:receipts'")
    answered = answer_iqs(client)
    # The answers are stanzas too, so the count ends later by their number.
    goal = stanzas + answered
    state, connection = Replaying(client, data, answered), client.connection
    connection.setblocking(False)
    start, seconds = time.monotonic(), None
    while True:
        readable, writable, _ = select.select([connection], [connection] if state.wants() else [], [], 300)
        if not readable and not writable and not connection.pending():
            raise Closed
        for work in [state.send] * state.wants() + [state.read]:
            try:
                work()
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                pass
        if seconds is None and state.height >= goal:
            seconds = time.monotonic() - start
        if seconds is not None and state.messages >= receipts:
            say(json.dumps({"stanzas": stanzas, "seconds": round(seconds, 4), "requests": data.count(b"<r xmlns"),
                            "answered": round(time.monotonic() - start, 4)}))
            return


def acknowledge_forever(client):
    """An idle session: answers requests for acknowledgement, counts the client's stanzas."""
    client.connection.settimeout(None)
    handled = 0
    while True:
        piece = client.connection.recv(65536)
        if not piece:
            raise Closed
        handled += len(re.findall(rb"<(?:message|iq|presence)[ />]", piece))
        for match in re.finditer(rb"<iq [^>]*type=['\"]get['\"][^>]*>", piece):
            identifier = re.search(rb"id=['\"]([^'\"]*)", match.group()).group(1)
            client.send(b"<iq type='error' id='" + identifier + b"'><error type='cancel'><service-unavailable "
                        b"xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>")
        if b"<r " in piece:
            client.send(b"<a xmlns='urn:xmpp:sm:3' h='%d'/>" % handled)
        if b"</stream:stream>" in piece:
            client.send(b"</stream:stream>")
            raise Closed


def acknowledge_unasked(client):
    """Answers a question to romeo only at a later request for an acknowledgement, and repeats an earlier acknowledgement just
    when the request is on its way."""
    handled, held, since = 0, None, 0
    while True:
        piece = client.connection.recv(65536)
        if not piece:
            raise Closed
        before = handled
        handled += len(re.findall(rb"<(?:message|iq|presence)[ />]", piece))
        for match in re.finditer(rb"<iq [^>]*type=['\"]get['\"][^>]*>", piece):
            error = (b"<iq type='error' id='" + re.search(rb"id=['\"]([^'\"]*)", match.group()).group(1) +
                     b"' from='romeo@localhost'><error type='cancel'><service-unavailable "
                     b"xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>")
            if b"romeo" in match.group():
                held, since = error, time.monotonic()
            else:
                client.send(error.replace(b" from='romeo@localhost'", b""))
        if b"<r " not in piece:
            continue
        if held and time.monotonic() - since > 0.25:
            client.send(b"<a xmlns='urn:xmpp:sm:3' h='%d'/>" % before)
            time.sleep(0.2)
            client.send(held)
            held = None
        client.send(b"<a xmlns='urn:xmpp:sm:3' h='%d'/>" % handled)


class Registrar:
    """Registers accounts (XEP-0077). Each form has another riddle; the answer to the riddle N is "riddle-N". The address `taken` is
    taken, `closing` closes the first connection that wants it, `lost` is made without an answer. The token `T` is an invitation."""

    def __init__(self):
        self.passwords, self.forms, self.closed = {"taken": "its own"}, 0, False

    def serve(self, client):
        client.until(rb"<stream:stream[^>]*>")
        client.send(HEADER + b"<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism>"
                    b"</mechanisms><register xmlns='http://jabber.org/features/iq-register'/></stream:features>")
        while True:
            request = client.until(rb"<auth [^>]*>([^<]*)</auth>|<iq [^>]*>.*?</iq>|</stream:stream>")
            if request.group().startswith(b"</"):
                return
            if request.group(1) is not None:
                _, user, password = base64.b64decode(request.group(1)).decode().split("\0")
                isRight = self.passwords.get(user) == password
                client.send(b"<%s xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>%s</%s>" % (
                    (b"success", b"", b"success") if isRight else (b"failure", b"<not-authorized/>", b"failure")))
                continue
            identifier = re.search(rb"id=['\"]([^'\"]*)", request.group()).group(1)
            client.send(self.answer(request.group()).replace(b"ID", identifier, 1))

    def answer(self, request):
        if b"<preauth" in request:
            return self.result() if b"token='T'" in request else self.error(b"cancel", b"item-not-found")
        if re.search(rb"type=['\"]get", request):
            self.forms += 1
            return self.result(self.form())
        values = dict(re.findall(r"var=['\"](\w+)['\"].*?<value>([^<]*)</value>", request.decode()))
        user = values["username"]
        if user == "closing" and not self.closed:
            self.closed = True
            raise Closed
        if values.get("ocr") != f"riddle-{values['challenge']}":
            return self.error(b"modify", b"not-allowed")
        if user in self.passwords:
            return self.error(b"cancel", b"conflict")
        self.passwords[user] = values["password"]
        if user == "lost":
            raise Closed
        return self.result()

    def form(self):
        fields = [f"<field type='hidden' var='challenge'><value>{self.forms}</value></field>",
                  "<field var='username' type='text-single'><required/></field>",
                  "<field var='password' type='text-private'><required/></field>",
                  "<field type='fixed'><value>A riddle</value></field>",
                  "<field var='ocr' label='What is in the picture?'><required/><media xmlns='urn:xmpp:media-element'>"
                  f"<uri type='image/png'>cid:sha1+{self.forms}@bob.xmpp.org</uri></media></field>"]
        picture = base64.b64encode(f"riddle-{self.forms}".encode()).decode()
        return (f"<query xmlns='jabber:iq:register'><x xmlns='jabber:x:data' type='form'>{''.join(fields)}</x>"
                f"<data xmlns='urn:xmpp:bob' cid='sha1+{self.forms}@bob.xmpp.org' type='image/png'>{picture}</data></query>").encode()

    @staticmethod
    def result(payload=b""):
        return b"<iq type='result' id='ID'>" + payload + b"</iq>"

    @staticmethod
    def error(kind, condition):
        return (b"<iq type='error' id='ID'><error type='" + kind + b"'><" + condition
                + b" xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>")


REGISTRAR = Registrar()


def serve(client):
    if options.mode == "register":
        return REGISTRAR.serve(client)
    if options.mode == "silent":
        while client.connection.recv(65536):
            pass
        return
    if options.mode in BAD and not options.late:
        for piece in BAD[options.mode]:
            client.send(piece)
        while client.connection.recv(65536):
            pass
        return
    negotiate(client)
    if options.mode == "replay":
        replay(client, options.file)
    if options.mode in BAD:
        for piece in BAD[options.mode]:
            client.send(piece)
    if options.mode == "unasked":
        acknowledge_unasked(client)
    acknowledge_forever(client)


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.cert, options.key)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", options.port))
    listener.listen(8)
    say("ready")
    while True:
        plain, _ = listener.accept()
        try:
            with context.wrap_socket(plain, server_side=True) as connection:
                try:
                    serve(Client(connection))
                finally:
                    time.sleep(options.linger)
        except (Closed, OSError, ssl.SSLError) as error:
            print("%s: %s" % (type(error).__name__, error), file=sys.stderr, flush=True)
        say("closed")


if __name__ == "__main__":
    main()
