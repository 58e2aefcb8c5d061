#!/usr/bin/python3
"""A client that says whatever it is told, for looking at servers: what they announce, and which flights they take.

  logins.py [FILE.json] [SERVER...]   examines the four servers (servers.py), prints a line of JSON for each finding

Needs /usr/bin/python3 with python3-openssl, for bindings to TLS 1.3 (tls-exporter) and for tickets.
"""
import base64, hashlib, hmac, json, os, re, socket, sys, tempfile, time, uuid
from OpenSSL import SSL

import servers

STREAMS = "http://etherx.jabber.org/streams"
SASL, SASL2, SM = "urn:ietf:params:xml:ns:xmpp-sasl", "urn:xmpp:sasl:2", "urn:xmpp:sm:3"
DECLARATION = "<?xml version='1.0'?>"


def header(sender=None, declaration=True):
    named = " from='%s'" % sender if sender else ""
    return (DECLARATION if declaration else "") + (
        "<stream:stream xmlns='jabber:client' xmlns:stream='%s' to='localhost'%s version='1.0'>" % (STREAMS, named))


def b64(data):
    return base64.b64encode(data if isinstance(data, bytes) else data.encode()).decode()


class Scram:
    """SCRAM-SHA-256 or -1; with a binding, -PLUS."""

    def __init__(self, user, password, mechanism="SCRAM-SHA-256", binding=None, kind="tls-exporter"):
        self.mechanism, self.user, self.password = mechanism, user, password
        self.hash = "sha256" if "256" in mechanism else "sha1"
        self.gs2 = "p=%s,," % kind if binding else "n,,"
        self.binding, self.nonce = binding or b"", uuid.uuid4().hex

    @property
    def first(self):
        self.bare = "n=%s,r=%s" % (self.user, self.nonce)
        return b64(self.gs2 + self.bare)

    def response(self, challenge):
        text = base64.b64decode(challenge).decode()
        self.challenge = text
        parts = dict(part.split("=", 1) for part in text.split(","))
        salted = hashlib.pbkdf2_hmac(self.hash, self.password.encode(), base64.b64decode(parts["s"]), int(parts["i"]))
        bare = "c=%s,r=%s" % (b64(self.gs2.encode() + self.binding), parts["r"])
        message = ",".join((self.bare, text, bare)).encode()
        key = hmac.new(salted, b"Client Key", self.hash).digest()
        signature = hmac.new(hashlib.new(self.hash, key).digest(), message, self.hash).digest()
        return b64(bare + ",p=" + b64(bytes(a ^ b for a, b in zip(key, signature))))


def fast_response(user, token, binding=b""):
    return b64(user.encode() + b"\0" + hmac.new(token.encode(), b"Initiator" + binding, "sha256").digest())


class Connection:
    """A connection with TLS; the log holds each write and all that came after it."""

    def __init__(self, port, authority, direct=True, pipelined=False, session=None, version=None, server_name="localhost"):
        self.buffer, self.log, self.is_over = "", [], False
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.tls = None
        if not direct:
            starttls = "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"
            if pipelined:
                self.say(header() + starttls)
            else:
                self.say(header())
                self.need("</stream:features>")
                self.say(starttls)
            self.need("<proceed[^>]*>")
        context = SSL.Context(SSL.TLS_CLIENT_METHOD)
        context.load_verify_locations(authority)
        context.set_verify(SSL.VERIFY_PEER, lambda *words: words[-1])
        context.set_session_cache_mode(SSL.SESS_CACHE_CLIENT)
        if version:
            context.set_max_proto_version(version)
        self.tls = SSL.Connection(context, self.socket)
        self.tls.set_tlsext_host_name(server_name.encode())
        if session:
            self.tls.set_session(session)
        self.tls.set_connect_state()
        self.socket.settimeout(None)
        self.tls.do_handshake()
        self.socket.settimeout(0.02)
        self.buffer = ""

    @property
    def is_reused(self):
        return bool(SSL._lib.SSL_session_reused(self.tls._ssl))

    def exporter(self):
        return self.tls.export_keying_material(b"EXPORTER-Channel-Binding", 32, b"")

    def say(self, text):
        data = text.encode()
        self.log.append(("up", text))
        if self.tls:
            self.tls.sendall(data)
        else:
            self.socket.sendall(data)

    def receive(self, seconds):
        """What comes within so many seconds; "" for nothing."""
        self.socket.settimeout(max(0.001, seconds))
        deadline = time.monotonic() + seconds
        while not self.is_over:
            try:
                data = self.tls.recv(65536) if self.tls else self.socket.recv(65536)
            except SSL.WantReadError:
                left = deadline - time.monotonic()
                if left <= 0:
                    return ""
                import select
                select.select([self.socket], [], [], left)
                continue
            except socket.timeout:
                return ""
            except (SSL.ZeroReturnError, SSL.SysCallError, SSL.Error, OSError):
                data = b""
            if not data:
                self.is_over = True
                return ""
            text = data.decode(errors="replace")
            self.log.append(("down", text))
            self.buffer += text
            return text
        return ""

    def wait(self, pattern, seconds=5):
        """The match of what came so far, taken away with all before it; None if it does not come."""
        deadline = time.monotonic() + seconds
        while True:
            match = re.search(pattern, self.buffer, re.S)
            if match:
                self.buffer = self.buffer[match.end():]
                return match
            if self.is_over or time.monotonic() > deadline:
                return None
            self.receive(min(0.5, max(0.001, deadline - time.monotonic())))

    def need(self, pattern, seconds=5):
        match = self.wait(pattern, seconds)
        if not match:
            raise TimeoutError("no %s: %r%s" % (pattern, self.buffer[-600:], " (closed)" if self.is_over else ""))
        return match

    def quiet(self, seconds=0.3):
        """All that comes until nothing has come for so long."""
        while self.receive(seconds):
            pass
        text, self.buffer = self.buffer, ""
        return text

    def drop(self):
        """Ends it as a kill does: the server may notice, but no stream is closed."""
        self.socket.close()


class Account:
    """An account on a server of servers.py."""

    def __init__(self, server, user="alice", direct=True):
        self.server, self.user, self.direct = server, user, direct
        self.jid = user + "@localhost"
        # Prosody 0.12 stores passwords for SHA-1 alone.
        self.mechanism = "SCRAM-SHA-1" if server.is_prosody else "SCRAM-SHA-256"

    def connect(self, direct=None, **options):
        direct = self.direct if direct is None else direct
        port = self.server.direct if direct else self.server.port
        return Connection(port, self.server.authority, direct=direct, **options)

    def features(self, connection, sender=True):
        connection.say(header(self.jid if sender else None))
        return connection.need("<stream:features.*?</stream:features>").group(0)

    def steps(self, connection=None, plus=False, resource=None):
        """A login step by step, with stream management. The connection, and the id to resume by."""
        connection = connection or self.connect()
        self.features(connection)
        scram = Scram(self.user, "secret", binding=connection.exporter() if plus else None,
                      mechanism=self.mechanism + "-PLUS" * plus)
        connection.say("<auth xmlns='%s' mechanism='%s'>%s</auth>" % (SASL, scram.mechanism, scram.first))
        challenge = connection.need("<challenge[^>]*>([^<]+)</challenge>|<failure.*?</failure>")
        if not challenge.group(1):
            raise TimeoutError(challenge.group(0))
        connection.say("<response xmlns='%s'>%s</response>" % (SASL, scram.response(challenge.group(1))))
        connection.need("<success")
        self.features(connection)
        named = "<resource>%s</resource>" % resource if resource else ""
        connection.say("<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>%s</bind></iq>" % named)
        self.full = connection.need("<jid>(.*?)</jid>").group(1)
        connection.say("<enable xmlns='%s' resume='true'/>" % SM)
        return connection, re.search("""id=['"](.*?)['"]""", connection.need("<enabled[^>]*>").group(0)).group(1)

    def authenticate(self, mechanism, initial, agent=None, inner=""):
        agent = "<user-agent id='%s'><software>logins.py</software></user-agent>" % agent if agent else ""
        return "<authenticate xmlns='%s' mechanism='%s'><initial-response>%s</initial-response>%s%s</authenticate>" % (
            SASL2, mechanism, initial, agent, inner)

    BIND = ("<bind xmlns='urn:xmpp:bind:0'><tag>k</tag><enable xmlns='urn:xmpp:sm:3' resume='true'/>"
            "<enable xmlns='urn:xmpp:carbons:2'/><inactive xmlns='urn:xmpp:csi:0'/></bind>")

    def sasl2(self, agent, inner, connection=None, pipelined=True, mechanism=None):
        """A login with SASL2 and SCRAM; the connection, and the whole answer from <success> on."""
        connection = connection or self.connect()
        mechanism = mechanism or self.mechanism
        plus = mechanism.endswith("PLUS")
        scram = Scram(self.user, "secret", mechanism, binding=connection.exporter() if plus else None)
        self.scram = scram
        text = self.authenticate(mechanism, scram.first, agent, inner)
        if pipelined:
            connection.say(header(self.jid) + text)
        else:
            self.features(connection)
            connection.say(text)
        challenge = connection.need("<challenge[^>]*>([^<]+)</challenge>|<failure.*?</failure>|</stream:stream>")
        if not challenge.group(1):
            raise TimeoutError(challenge.group(0))
        connection.say("<response xmlns='%s'>%s</response>" % (SASL2, scram.response(challenge.group(1))))
        return connection, connection.need("<success.*?</success>|<failure.*?</failure>").group(0)

    def fast(self, agent, token, mechanism, inner, count=1, connection=None, pipelined=True, attributes=""):
        """A login with a token in one flight; the connection, and the answer."""
        connection = connection or self.connect()
        binding = connection.exporter() if mechanism.endswith("EXPR") else b""
        text = self.authenticate(mechanism, fast_response(self.user, token, binding), agent,
                                 "<fast xmlns='urn:xmpp:fast:0' count='%d'%s/>" % (count, attributes) + inner)
        if pipelined:
            connection.say(header(self.jid) + text)
        else:
            self.features(connection)
            connection.say(text)
        return connection, connection.need("<success.*?</success>|<failure.*?</failure>|<stream:error.*?</stream:error>").group(0)


def resume(h, previous):
    return "<resume xmlns='%s' h='%d' previd='%s'/>" % (SM, h, previous)


def found(text, name, attribute):
    match = re.search("<%s[^>]*?%s=['\"](.*?)['\"]" % (name, attribute), text)
    return match.group(1) if match else None


def kill_and_resume_by_flight(account, how, tries, declaration=False, gap=None):
    """How often <response/>, a header and <resume/> in one write end in <resumed/>. `gap` seconds before the header: two writes."""
    outcomes, example = {}, None
    for _ in range(tries):
        old, previous = account.steps()
        old.drop()
        connection = account.connect()
        scram = Scram(account.user, "secret", account.mechanism)
        connection.say(header(account.jid) + "<auth xmlns='%s' mechanism='%s'>%s</auth>" % (SASL, scram.mechanism, scram.first))
        challenge = connection.need("<challenge[^>]*>([^<]+)</challenge>").group(1)
        response = "<response xmlns='%s'>%s</response>" % (SASL, scram.response(challenge))
        rest = header(account.jid, declaration) + resume(0, previous)
        if gap is None:
            connection.say(response + rest)
        else:
            connection.say(response)
            time.sleep(gap)
            connection.say(rest)
        match = connection.wait("<resumed[^>]*>", 1.5)
        if match:
            outcome = "resumed"
        elif connection.is_over:
            outcome = "closed"
        else:
            seen = connection.buffer
            success = "<success" in seen
            outcome = "silence after <success/>" if success and "<stream:stream" not in seen else "other: " + seen[-160:]
            connection.buffer = ""
            # Does the header once more, with <resume/>, rescue the connection?
            connection.say(header(account.jid) + resume(0, previous) if how == "both" else header(account.jid))
            if how != "both" and connection.wait("</stream:features>", 2):
                connection.say(resume(0, previous))
            rescued = connection.wait("<resumed[^>]*>", 2)
            outcome += "; header again: " + ("resumed" if rescued else "closed " + connection.buffer[-100:] if connection.is_over
                                             else "nothing " + connection.buffer[-200:])
        if not outcome.startswith("resumed") and example is None:
            example = connection.log[-8:]
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        connection.drop()
    return {"outcomes": outcomes, "example": example}
