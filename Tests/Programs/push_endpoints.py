#!/usr/bin/python3
"""Push endpoints that must not be connected to, in a network of its own where every connect is logged.

  push_endpoints.py KALIJ-PUSH FOLDER      prints a line of JSON: the answers, and the connects that were seen

The network is a namespace whose only device has public and private addresses. A DNS server answers for `*.services.example`: names that lead
to loopback, private, metadata and other special addresses, and names whose answers change with every question. KALIJ-PUSH runs there as the
component of a stand-in for an XMPP server, and gets a publish for each endpoint: those of FORBIDDEN, and in between ALLOWED ones, which have to
be reached. A packet socket sees every SYN and every datagram. Then somebody has bought a domain: each of thousands of its names is a push service
that hangs, or whose name has no answer, and other pushes go on beside.
"""
import base64, glob, hashlib, json, os, re, socket, ssl, struct, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PUSH, FOLDER = sys.argv[1], sys.argv[2]
COMPONENT, KEY = 5347, "component-key"
PUBLIC = ["20.0.0.1", "20.0.0.2", "2606:aaaa::1"]
# Takes connections and never answers.
HANGING = "20.0.0.3"
BOUGHT, HONEST, NAMES_BOUGHT = "bought.example", "honest.example", 5000
SPECIAL = ["127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "10.255.255.255", "100.64.0.1", "169.254.169.254", "169.254.0.1", "172.16.0.1",
           "172.31.255.254", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
           "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
           "::1", "::", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
           "64:ff9b:1::1", "2002:7f00:1::1", "2002:a00:1::1", "2002:a9fe:a9fe::1", "2001::1", "2001:db8::1", "3fff::1", "fc00::1", "fd00:ec2::254",
           "fe80::1", "fec0::1", "ff02::1", "100::1", "4000::1"]
ZONE = "services.example"


def zone():
    """Names with their answers, one list for each question; the last stays."""
    names = {f"special{number}": [[address]] for number, address in enumerate(SPECIAL)}
    names |= {"good": [["20.0.0.1"]], "six": [["2606:aaaa::1"]], "mapped-good": [["20.0.0.2"]]}
    names |= {"all-special": [["127.0.0.1", "10.0.0.1", "::1", "169.254.169.254"]], "alias": ["localhost"], "alias-router": ["router.local"],
              "turning0": [["127.0.0.1"]], "nothing": [[]]}
    return names


NAMES = zone()
# Changes between two look-ups: special in every second answer.
TURNING = {f"rebind{number}": ["20.0.0.1", address] for number, address in enumerate(a for a in SPECIAL if ":" not in a)}
asked = {}


def record(name, kind, data):
    return b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(data)) + data


def resolve(name, kind):
    label = name.lower().removesuffix("." + ZONE)
    asked[(label, kind)] = asked.get((label, kind), 0) + 1
    if label in TURNING:
        addresses = [TURNING[label][(asked[(label, kind)] + 1) % 2]]
    elif name.endswith("." + BOUGHT):
        if int(label[1:].split(".")[0]) % 2:
            return "silence"
        addresses = [HANGING]
    elif name.endswith("." + HONEST):
        addresses = ["20.0.0.1"]
    elif label in NAMES:
        addresses = NAMES[label][0]
    elif name.lower() in ("localhost", "router.local"):
        addresses = ["127.0.0.1", "::1"]
    else:
        return None
    if isinstance(addresses, str):
        alias = b"".join(bytes([len(part)]) + part.encode() for part in addresses.split(".")) + b"\0"
        target = [b"\xc0\x0c" + struct.pack(">HHIH", 5, 1, 0, len(alias)) + alias]
        data = {1: socket.inet_pton(socket.AF_INET, "127.0.0.1"), 28: socket.inet_pton(socket.AF_INET6, "::1")}[kind]
        return target + [alias + struct.pack(">HHIH", kind, 1, 0, len(data)) + data]
    family = {1: socket.AF_INET, 28: socket.AF_INET6}[kind]
    chosen = [a for a in addresses if (":" in a) == (kind == 28)]
    return [record(name, kind, socket.inet_pton(family, a)) for a in chosen]


def serve_names():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))
    while True:
        query, peer = server.recvfrom(4096)
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode())
            at += 1 + query[at]
        kind = struct.unpack(">H", query[at + 1:at + 3])[0]
        records = resolve(".".join(labels), kind) if kind in (1, 28) else []
        if records == "silence":
            continue
        code = 0x8183 if records is None else 0x8180
        head = query[:2] + struct.pack(">HHHHH", code, 1, len(records or []), 0, 0)
        server.sendto(head + query[12:at + 5] + b"".join(records or []), peer)


class Service(BaseHTTPRequestHandler):
    """A push service with HTTP/1.1."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        status = 307 if "redirect" in self.path else 201
        self.send_response(status)
        self.send_header("location", "https://127.0.0.1/stolen" if status == 307 else "https://good.services.example/m/1")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def serve_pushes():
    names = ",".join([f"DNS:*.{ZONE}", f"DNS:*.{HONEST}", "DNS:localhost"] + [f"IP:{a}" for a in PUBLIC + SPECIAL])
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj",
                    "/CN=services", "-addext", "subjectAltName=" + names, "-keyout", f"{FOLDER}/key.pem", "-out", f"{FOLDER}/ca.pem"],
                   check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{FOLDER}/ca.pem", f"{FOLDER}/key.pem")

    class Server(ThreadingHTTPServer):
        request_queue_size = 64

    global hanging
    hanging = socket.create_server((HANGING, 443), backlog=4096)
    for address, port in [(address, port) for address in PUBLIC for port in (443, 8443)]:
        Server.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        server = Server((address, port), Service)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()


seen = []


def watch():
    """Every SYN, and every datagram that is no question to the DNS, with its destination."""
    link = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    while True:
        packet, where = link.recvfrom(65535)
        if where[2] != socket.PACKET_OUTGOING:
            continue
        if packet[0] >> 4 == 4:
            at, protocol = (packet[0] & 15) * 4, packet[9]
            target = socket.inet_ntop(socket.AF_INET, packet[16:20])
        elif packet[0] >> 4 == 6:
            at, protocol, target = 40, packet[6], socket.inet_ntop(socket.AF_INET6, packet[24:40])
        else:
            continue
        if protocol not in (6, 17):
            continue
        port = struct.unpack(">H", packet[at + 2:at + 4])[0]
        source = struct.unpack(">H", packet[at:at + 2])[0]
        if protocol == 6 and packet[at + 13] & 0x12 == 2 and port != COMPONENT or protocol == 17 and 53 not in (port, source):
            seen.append(f"{target} {port}")


def node(endpoint):
    key = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    return f"{endpoint}#p256dh={key};auth=BTBZMqHH6r4Tts7J_aSIgg"


def forbidden():
    spellings = ["127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f.0.0.1", "0x7f000001", "0x7F.1", "0177.0.0.1", "017700000001", "0177.1",
                 "0", "0.0.0.0", "10.1", "167772161", "0xa9fea9fe", "2852039166", "169.254.169.254", "0251.0376.0251.0376", "192.168.257",
                 "20.0.0.1", "335544321", "127.0.0.1.", "1.2.3.4.5", "256.1.1.1", "a.1", "a.0x1", "１２７.0.0.1", "①②⑦.0.0.1",
                 "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[2606:aaaa::1]", "[fe80::1%25lo]", "[0:0:0:0:0:0:0:1]",
                 "[fd00:ec2::254]", "[v1.a]", "[::1", "::1", "localhost", "localhost.", "good", "good.services.example.", ".services.example",
                 "good..services.example", "good.services.example%00.a.example", "good%2eservices.example", "good.services.example\\.a.example",
                 "gööd.services.example", "good。services.example", "good_.services.example", "-good.services.example", "good services.example",
                 "good.services.example:80", "good.services.example:8443", "good.services.example:0", "good.services.example:65536",
                 "good.services.example:22", "good.services.example:443:443", "good.services.example:+443", "good.services.example:",
                 "good.services.example:53", "good.services.example:5347", "user@good.services.example", "user:word@good.services.example",
                 "good.services.example@127.0.0.1", "127.0.0.1#@good.services.example", "good.services.example:443@127.0.0.1", "a" * 64 + ".services.example"]
    all = [f"https://{host}/p/1" for host in spellings]
    all += [f"https://special{number}.{ZONE}/p/1" for number in range(len(SPECIAL))]
    all += [f"https://{name}.{ZONE}/p/1" for name in ("all-special", "alias", "alias-router", "nothing", "missing")]
    schemes = ["http://good", "HTTP://good", "ftp://good", "ws://good", "wss://good", "gopher://good", "file://", "https:good", "https:/good",
               "https:///good", "//good", "good", " https://good", "javascript://good", "unix://good", "h2c://good", "https//good", "data:good"]
    all += [f"{scheme}.services.example/p/1" for scheme in schemes]
    paths = ["/a b", "/a\tb", "/ä", "/%", "/%4", "/%zz", "/a\\b", "/<a>", "/a\"b", "/a^b", "/a`b", "/{a}", "/a|b", "/" + "a" * 900]
    all += [f"https://good.services.example{path}" for path in paths]
    return all


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;").replace("'", "&apos;").replace("\t", "&#9;")


class Stream:
    """The XMPP server's side of a component (XEP-0114)."""

    def __init__(self):
        listener = socket.create_server(("127.0.0.1", COMPONENT))
        self.server = subprocess.Popen(
            [PUSH, "serve", f"{FOLDER}/settings.json"], stderr=open(f"{FOLDER}/log", "w"), env=dict(os.environ, SSL_CERT_FILE=f"{FOLDER}/ca.pem"))
        self.link, _ = listener.accept()
        self.text = ""
        self.until("<stream:stream[^>]*>")
        self.send("<?xml version='1.0'?><stream:stream xmlns='jabber:component:accept' xmlns:stream='http://etherx.jabber.org/streams' id='1'>")
        self.until("<handshake[^>]*>[0-9a-f]*</handshake>")
        self.send("<handshake/>")

    def send(self, text):
        self.link.sendall(text.encode())

    def until(self, pattern, seconds=30):
        end = time.time() + seconds
        while not (found := re.search(pattern, self.text)):
            self.link.settimeout(max(0.01, end - time.time()))
            self.text += self.link.recv(65536).decode()
        self.text = self.text[found.end():]
        return found

    def publish(self, number, text, domain="example.org"):
        self.send(
            f"<iq type='set' id='{number}' from='{domain}' to='push.example'><pubsub xmlns='http://jabber.org/protocol/pubsub'>"
            f"<publish node='{escaped(text)}'><item><notification xmlns='urn:xmpp:push:0'/></item></publish></pubsub></iq>")

    def answers(self, count):
        found = {}
        while len(found) < count:
            iq = self.until(r"<iq [^>]*?(?:/>|>.*?</iq>)").group(0)
            number, kind = re.search(r"\bid=['\"](\d+)['\"]", iq).group(1), re.search(r"\btype=['\"](\w+)['\"]", iq).group(1)
            condition = re.search(r"<error[^>]*type=['\"](\w+)['\"].*?<([a-z-]+)", iq[iq.find("<error"):]) if "<error" in iq else None
            found[int(number)] = f"{condition.group(1)}/{condition.group(2)}" if condition else kind
        return found


def megabytes(pid):
    return int(open(f"/proc/{pid}/statm").read().split()[1]) * 4096 / 1e6


def flood(stream):
    """Thousands of names of one owner, and honest pushes beside: the longest time of these, and what the server has needed."""
    pid, before = stream.server.pid, megabytes(stream.server.pid)
    most, longest, results, number = 0, 0, [], 200000
    for start in range(0, NAMES_BOUGHT, 100):
        for index in range(start, start + 100):
            stream.publish(number + index, node(f"https://n{index}.{BOUGHT}/p/1"), "bought.example")
        began = time.time()
        stream.publish(number + NAMES_BOUGHT + start, node(f"https://a.{HONEST}/p/{start}"), "honest.example")
        while number + NAMES_BOUGHT + start not in (answer := stream.answers(1)):
            pass
        longest = max(longest, time.time() - began)
        results += answer.values()
        most = max(most, len(glob.glob(f"/proc/{pid}/fd/*")))
        time.sleep(0.05)
    return {"descriptors": most, "growth": megabytes(pid) - before, "longest": longest, "honest": sorted(set(results)), "names": NAMES_BOUGHT}


def prove_watch():
    """Connects to every special address itself: how many of these connects the watcher has seen."""
    for address in SPECIAL:
        probe = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        probe.setblocking(False)
        try:
            probe.connect((address, 443))
        except OSError:
            pass
        time.sleep(0.01)
        probe.close()
    time.sleep(0.2)
    watched = len(set(seen))
    seen.clear()
    return watched


def inside():
    open(f"{FOLDER}/resolv.conf", "w").write("nameserver 127.0.0.1\noptions attempts:1 timeout:1\n")
    open(f"{FOLDER}/hosts", "w").write("127.0.0.1 localhost\n")
    for command in (["mount", "--bind", f"{FOLDER}/resolv.conf", "/etc/resolv.conf"], ["mount", "--bind", f"{FOLDER}/hosts", "/etc/hosts"],
                    ["ip", "link", "set", "lo", "up"]):
        subprocess.run(command, check=True)
    for address in PUBLIC + [HANGING] + SPECIAL:
        # Some are no addresses of a device; packets to them are seen all the same.
        bits = 128 if ":" in address else 32
        subprocess.run(["ip", "addr", "add", f"{address}/{bits}", "dev", "lo"] + ["nodad"] * (bits == 128), stderr=subprocess.DEVNULL)
    for route in (["-4", "route", "add", "default", "dev", "lo"], ["-6", "route", "add", "default", "dev", "lo"]):
        subprocess.run(["ip"] + route, stderr=subprocess.DEVNULL)
    subprocess.run([PUSH, "webpush-key", f"{FOLDER}/web.pem"], check=True, stdout=subprocess.DEVNULL)
    json.dump({
        "component": {"componentHostname": "push.example", "componentKey": KEY, "serverHostname": "127.0.0.1", "serverPort": COMPONENT},
        "pushModules": {"web": {"type": "webpush", "is_default_module": True, "ratelimit": {"enabled": False}, "webpush": {
            "keyFilePath": "web.pem", "contact": "mailto:ops@example.org", "requestTimeout": 2}}},
        "limits": {"deadTokens": 10000, "malformed": 10000, "newTokenFailures": 10000, "answer": "8s"}}, open(f"{FOLDER}/settings.json", "w"))
    serve_pushes()
    for work in (serve_names, watch):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(0.3)
    watched = prove_watch()
    stream = Stream()
    bad = forbidden()
    texts = [node(endpoint) for endpoint in bad]
    for number, text in enumerate(texts):
        stream.publish(number, text)
    answers = stream.answers(len(texts))
    connects = list(seen)
    # Every second answer leads to a special address: nobody knows which of them the socket gets.
    turning = []
    for number in range(8 * len(TURNING)):
        turning.append(len(texts) + number)
        stream.publish(turning[-1], node(f"https://{list(TURNING)[number % len(TURNING)]}.{ZONE}/p/{number}"))
    stream.answers(len(turning))
    rebinding = [one for one in seen if one not in connects]
    good = {name: 100000 + at for at, name in enumerate(["good.services.example/p/1", "six.services.example/p/1", "good.services.example/redirect"])}
    reached, began = {}, time.time()
    for name, number in good.items():
        stream.publish(number, node("https://" + name))
        reached |= stream.answers(1)
    seconds = time.time() - began
    bought = flood(stream)
    stream.server.terminate()
    stream.server.wait()
    print(json.dumps({
        "forbidden": len(bad), "connects": connects, "rebinding": rebinding, "turned": len(turning), "seconds": seconds, "bought": bought, "watched": watched,
        "allowed": {name: reached[number] for name, number in good.items()}, "all": sorted(set(seen)),
        "answers": {kind: list(answers.values()).count(kind) for kind in sorted(set(answers.values()))}}), flush=True)
    os._exit(0)


if len(sys.argv) > 3:
    inside()
else:
    os.makedirs(FOLDER, exist_ok=True)
    sys.exit(subprocess.run(
        ["unshare", "-rmn", "--propagation", "private", sys.executable, os.path.abspath(__file__), PUSH, FOLDER, "inside"]).returncode)
