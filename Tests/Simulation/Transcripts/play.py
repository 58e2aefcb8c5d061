#!/usr/bin/env python3
"""Plays conversations to a server, a real one or the simulated one, and compares what it does with what stands in them.

    play.py --simulated PROGRAM "Prosody 0.12" FILE...     the simulated server, which PROGRAM serves
    play.py --port N --ca FILE --server "Prosody 0.12" FILE...
                                                           a real one (direct TLS, users alice and bob, password secret)

A line is `NAME COMMAND ARGUMENTS`; a line that begins with `=>` says what comes of it, on all servers or, with the name
of a kind in front (`=> prosody: ...`, `=> prosody 13: ...`), on those; of several lines the last one for the server counts.
A restart is asked for by the line `restart` on standard output; it has
happened when a line comes on standard input.
"""
import argparse, base64, hashlib, hmac, select, socket, ssl, subprocess, sys, time
import xml.etree.ElementTree as ET

CLIENT, SM, SASL = "{jabber:client}", "{urn:xmpp:sm:3}", "{urn:ietf:params:xml:ns:xmpp-sasl}"
MAM, RSM, FORWARD = "{urn:xmpp:mam:2}", "{http://jabber.org/protocol/rsm}", "{urn:xmpp:forward:0}"
SASL2, BIND2, FAST = "{urn:xmpp:sasl:2}", "{urn:xmpp:bind:0}", "{urn:xmpp:fast:0}"
# Python's ssl has no tls-exporter: tokens without binding, which Kalij itself never uses.
HASHED = "HT-SHA-256-NONE"
# The seconds after which a wait counts as hung.
HANG = 400
HEADER = ("<?xml version='1.0'?><stream:stream xmlns='jabber:client' to='localhost' version='1.0' "
          "xmlns:stream='http://etherx.jabber.org/streams'>")


class Client:
    def __init__(self, open_socket):
        self.socket = open_socket()
        self.parser = ET.XMLPullParser(["start", "end"])
        self.depth, self.elements, self.is_closed, self.handled, self.is_counting = 0, [], False, 0, False
        self.bodies, self.error, self.session, self.tokens, self.is_bound = [], None, None, [], False

    def write(self, text):
        try:
            self.socket.sendall(text.encode())
        except OSError:
            self.is_closed = True

    def read(self, seconds):
        """Takes in what comes within the time; true if anything did."""
        pending = getattr(self.socket, "pending", lambda: 0)()
        if self.is_closed or not (pending or select.select([self.socket], [], [], seconds)[0]):
            return False
        try:
            data = self.socket.recv(65536)
        except OSError:
            data = b""
        if not data:
            self.is_closed = True
            return False
        self.parser.feed(data)
        for event, element in self.parser.read_events():
            self.depth += 1 if event == "start" else -1
            if event == "end" and self.depth == 1:
                self.take(element)
            elif event == "end" and self.depth == 0:
                self.is_closed = True
        return True

    def take(self, element):
        if element.tag in (CLIENT + "message", CLIENT + "presence", CLIENT + "iq"):
            self.handled += self.is_counting
            body = element.find(CLIENT + "body")
            if body is not None:
                self.bodies.append(body.text)
        if element.tag.endswith("}error") and "streams" in element.tag:
            self.error = element[0].tag.split("}")[1] if len(element) else "error"
        if element.tag == SM + "r":
            return
        self.elements.append(element)

    def wait(self, *tags):
        """The next element of these kinds; None if the stream ends first."""
        end = time.time() + HANG
        while True:
            for element in self.elements:
                if element.tag in tags:
                    self.elements.remove(element)
                    return element
            if self.is_closed or time.time() > end:
                return None
            self.read(0.2)

    def settle(self):
        """Takes in what the server had to say before now: its answer to a question comes behind."""
        if self.is_counting:
            self.elements = [element for element in self.elements if element.tag != SM + "a"]
            self.write("<r xmlns='urn:xmpp:sm:3'/>")
            self.wait(SM + "a")
        elif self.is_bound:
            self.write("<iq type='get' id='ping' to='localhost'><ping xmlns='urn:xmpp:ping'/></iq>")
            self.wait(CLIENT + "iq")
        else:  # Whoever has no session may ask nothing.
            while self.read(1):
                pass

    def restart(self):
        self.parser, self.depth = ET.XMLPullParser(["start", "end"]), 0
        self.write(HEADER)


class Player:
    def __init__(self, open_socket, restart):
        self.open_socket, self.restart, self.clients = open_socket, restart, {}

    def play(self, name, command, *words):
        if name == "server":
            self.restart()
            for client in self.clients:
                self.do_state(client)
            return "restarted"
        return getattr(self, "do_" + command.replace("-", "_"))(name, *words) or ""

    def do_connect(self, name, user):
        end = time.time() + HANG
        while True:  # A server that starts refuses the connection, or ends it.
            try:
                client = self.clients[name] = Client(self.open_socket)
                client.write(HEADER)
                if client.wait("{http://etherx.jabber.org/streams}features") is not None or time.time() > end:
                    break
            except OSError:
                if time.time() > end:
                    raise
            time.sleep(0.1)
        token = base64.b64encode(f"\0{user}\0secret".encode()).decode()
        client.write(f"<auth xmlns='{SASL[1:-1]}' mechanism='PLAIN'>{token}</auth>")
        if client.wait(SASL + "success", SASL + "failure") is None:
            return "refused"
        client.restart()
        client.wait("{http://etherx.jabber.org/streams}features")
        return "connected"

    def do_begin(self, name, user):
        """A connection that says who it is; the login is `enter`."""
        client = self.clients[name] = Client(self.open_socket)
        client.user = user
        client.write(HEADER.replace(" to=", f" from='{user}@localhost' to="))
        client.wait("{http://etherx.jabber.org/streams}features")

    def do_enter(self, name, *words):
        """SASL2 and Bind 2 in one element. `resuming OTHER` asks for the session of another client, too (with its
        count, or `less N`), `wanting` for a token;
        `by OTHER N` logs in with the token number N of another client, `by wrong` with one that nobody has given."""
        client, words = self.clients[name], list(words)
        old = self.clients[words[words.index("resuming") + 1]] if "resuming" in words else None
        count = old.handled - (int(words[words.index("less") + 1]) if "less" in words else 0) if old else 0
        mechanism, message = "PLAIN", f"\0{client.user}\0secret".encode()
        if "by" in words:
            place = words.index("by")
            token = "wrong" if words[place + 1] == "wrong" else \
                self.clients[words[place + 1]].tokens[int(words[place + 2])]
            proof = hmac.new(token.encode(), b"Initiator", hashlib.sha256).digest()
            mechanism, message = HASHED, client.user.encode() + b"\0" + proof
        request = f"<initial-response>{base64.b64encode(message).decode()}</initial-response>"
        request += "<user-agent id='d4565fa7-4d72-4749-b3d3-740edbf87770'><software>player</software></user-agent>"
        if old:
            request += f"<resume xmlns='{SM[1:-1]}' previd='{old.session}' h='{count}'/>"
        request += (f"<bind xmlns='{BIND2[1:-1]}'><tag>player</tag>"
                    f"<enable xmlns='{SM[1:-1]}' resume='true'/></bind>")
        if "wanting" in words:
            request += f"<request-token xmlns='{FAST[1:-1]}' mechanism='{HASHED}'/>"
        if "by" in words:
            request += f"<fast xmlns='{FAST[1:-1]}'/>"
        client.write(f"<authenticate xmlns='{SASL2[1:-1]}' mechanism='{mechanism}'>{request}</authenticate>")
        answer = client.wait(SASL2 + "success", SASL2 + "failure")
        if answer is None:
            return "closed"
        if answer.tag == SASL2 + "failure":
            return "refused, " + answer[0].tag.split("}")[1]
        token = answer.find(FAST + "token")
        if token is not None:
            client.tokens.append(token.get("token"))
        given = "" if token is None else ", a token"
        resumed, failed, bound = (answer.find(tag) for tag in (SM + "resumed", SM + "failed", BIND2 + "bound"))
        client.is_counting = True
        if resumed is not None:
            client.session = old.session
            client.handled = count + len([e for e in client.elements if e.tag.startswith(CLIENT)])
            return f"resumed with {resumed.get('h')}{given}"
        client.handled = len([e for e in client.elements if e.tag.startswith(CLIENT)])
        if bound is not None and bound.find(SM + "enabled") is not None:
            client.session = bound.find(SM + "enabled").get("id")
        return ("" if failed is None else "failed, ") + ("nothing" if bound is None else "bound") + given

    def do_bind(self, name, resource):
        client = self.clients[name]
        client.write(f"<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                     f"<resource>{resource}</resource></bind></iq>")
        answer = client.wait(CLIENT + "iq")
        client.is_bound = answer is not None and answer.get("type") == "result"
        return "bound" if client.is_bound else "not bound"

    def do_enable(self, name):
        client = self.clients[name]
        client.write("<enable xmlns='urn:xmpp:sm:3' resume='true'/>")
        answer = client.wait(SM + "enabled", SM + "failed")
        if answer is None or answer.tag != SM + "enabled":
            return "failed"
        client.session, client.is_counting = answer.get("id"), True
        return "enabled, resumable" if answer.get("resume") in ("true", "1") else "enabled"

    def do_available(self, name):
        self.clients[name].write("<presence/>")
        self.clients[name].wait(CLIENT + "presence")
        self.clients[name].settle()

    def do_say(self, name, recipient, *bodies):
        for body in bodies:
            self.clients[name].write(
                f"<message type='chat' to='{recipient}' id='{name}-{body}'><body>{body}</body></message>")
        self.clients[name].settle()

    def do_hear(self, name, count="0"):
        """The texts of the messages that have come; waits for so many."""
        client, end = self.clients[name], time.time() + HANG
        while len(client.bodies) < int(count) and not client.is_closed and time.time() < end:
            client.read(0.2)
        client.settle()
        bodies, client.bodies = client.bodies, []
        return " ".join(bodies) or "nothing"

    def do_ask_count(self, name):
        self.clients[name].write("<r xmlns='urn:xmpp:sm:3'/>")
        answer = self.clients[name].wait(SM + "a")
        return "nothing" if answer is None else answer.get("h")

    def do_acknowledge(self, name, less="0"):
        client = self.clients[name]
        client.write(f"<a xmlns='urn:xmpp:sm:3' h='{client.handled - int(less)}'/>")
        client.settle()

    def do_drop(self, name):
        client = self.clients[name]
        client.socket.close()
        client.is_closed = True

    def do_resume(self, name, other, less="0"):
        """Resumes the session of another client, with its count or so much less."""
        client, old = self.clients[name], self.clients[other]
        count = old.handled - int(less)
        client.write(f"<resume xmlns='urn:xmpp:sm:3' previd='{old.session}' h='{count}'/>")
        answer = client.wait(SM + "resumed", SM + "failed")
        if answer is None:
            return "closed"
        counted = "" if answer.get("h") is None else f" with {answer.get('h')}"
        if answer.tag == SM + "resumed":
            client.session, client.is_counting = old.session, True
            # What comes behind <resumed/> may have been counted already as that of no session.
            client.handled = count + len([e for e in client.elements if e.tag.startswith(CLIENT)])
            return "resumed" + counted
        condition = answer[0].tag.split("}")[1] if len(answer) else "no reason"
        return f"failed{counted}, {condition}"

    def do_page(self, name, maximum, after=None):
        """A page of the archive, behind the message with that text."""
        client = self.clients[name]
        place = "" if after is None else f"<after>{self.ids.get(after, after)}</after>"
        client.write(f"<iq type='set' id='page'><query xmlns='urn:xmpp:mam:2' queryid='q'>"
                     f"<set xmlns='{RSM[1:-1]}'><max>{maximum}</max>{place}</set></query></iq>")
        bodies = []
        while True:
            element = client.wait(CLIENT + "message", CLIENT + "iq")
            if element is None:
                return "closed"
            result = element.find(MAM + "result")
            if result is not None:
                body = result.find(f"{FORWARD}forwarded/{CLIENT}message/{CLIENT}body").text
                self.ids[body] = result.get("id")
                bodies.append(body)
            elif element.get("id") == "page":
                break
        if element.get("type") == "error":
            return "error " + [e.tag.split("}")[1] for e in element.find(CLIENT + "error")][0]
        fin = element.find(MAM + "fin")
        return " ".join(bodies or ["nothing"]) + (", complete" if fin.get("complete") == "true" else "")

    def do_state(self, name):
        """Waits for the end of the stream."""
        client, end = self.clients[name], time.time() + HANG
        while not client.is_closed and time.time() < end:
            client.read(0.2)
        return (client.error or "closed") if client.is_closed else "open"

    ids = {}


def play(path, player, server):
    wrong, line, actual, expected = 0, None, None, None

    def check():
        nonlocal wrong
        if line is None or expected is None or expected == actual:
            return
        wrong += 1
        print(f"{path}: {line}\n  expected: {expected}\n  actual:   {actual}")

    with open(path) as file:
        for text in [text.strip() for text in file] + ["end"]:
            if not text or text.startswith("#"):
                continue
            if text.startswith("=>"):
                words = text[2:].strip()
                owner, colon, rest = words.partition(": ")
                if colon and owner.split()[0] in ("prosody", "ejabberd"):
                    if server.lower().startswith(owner):
                        expected = rest
                else:
                    expected = words
                continue
            check()
            if text == "end":
                break
            line, expected = text, None
            actual = player.play(*text.split())
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulated", nargs=2, metavar=("PROGRAM", "SERVER"))
    parser.add_argument("--port", type=int)
    parser.add_argument("--ca")
    parser.add_argument("--server")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    wrong = 0
    for path in options.files:
        child = None
        if options.simulated:
            child = subprocess.Popen(
                [options.simulated[0], "serve", options.simulated[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                text=True)
            port, server = int(child.stdout.readline().split()[1]), options.simulated[1]

            def open_socket():
                return socket.create_connection(("127.0.0.1", port), HANG)

            def restart():
                child.stdin.write("restart\n")
                child.stdin.flush()
        else:
            server, context = options.server, ssl.create_default_context(cafile=options.ca)

            def open_socket():
                plain = socket.create_connection(("127.0.0.1", options.port), HANG)
                return context.wrap_socket(plain, server_hostname="localhost")

            def restart():
                print("restart", flush=True)
                sys.stdin.readline()
        wrong += play(path, Player(open_socket, restart), server)
        if child:
            child.stdin.close()
            child.wait()
    print("no difference" if wrong == 0 else f"{wrong} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
