#!/usr/bin/python3
"""A message wakes a device through real servers, without Apple and Google.

  push_chain.py KALIJ KALIJ-PUSH FOLDER COUNT      exit code 1 unless each of COUNT messages was printed by `kalij wake`

alice's message, Prosody's mod_cloud_notify, kalij-push, Prosody's mod_unified_push as the push service (HTTP/1.1), a distributor that is logged in
there, and `kalij wake` for bob. Before every tenth message kalij-push is killed and started again; during every tenth `kalij wake` is killed, and
its message comes with the next push.
"""
import asyncio, base64, json, os, signal, subprocess, sys, time
from xml.etree import ElementTree

import slixmpp
from cryptography.hazmat.primitives import hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from slixmpp.xmlstream.handler import Callback
from slixmpp.xmlstream.matcher import MatchXPath

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from servers import free_ports, make_certificates

KALIJ, PUSH, FOLDER, COUNT = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
SPACE = "http://gultsch.de/xmpp/drafts/unified-push"
CONFIGURATION = """
run_as_root = true
pidfile = "{folder}/prosody.pid"
data_path = "{folder}/data"
plugin_paths = {{ "/usr/lib/prosody/modules" }}
log = {{ {{ levels = {{ min = "debug" }}, to = "file", filename = "{folder}/prosody.log" }} }}
interfaces = {{ "127.0.0.1" }}
local_interfaces = {{ "127.0.0.1" }}
c2s_ports = {{ {port} }}
s2s_ports = {{ }}
http_ports = {{ }}
https_ports = {{ {https} }}
https_interfaces = {{ "127.0.0.1" }}
component_ports = {{ {component} }}
component_interfaces = {{ "127.0.0.1" }}
ssl = {{ certificate = "{folder}/certs/localhost.crt", key = "{folder}/certs/localhost.key" }}
https_ssl = ssl
authentication = "internal_hashed"
modules_enabled = {{ "roster", "saslauth", "tls", "disco", "ping", "smacks", "mam", "csi_simple", "carbons", "cloud_notify", "presence", "message",
  "iq", "posix", "pep", "blocklist" }}
modules_disabled = {{ "s2s", "offline" }}
http_host = "push.localhost"
http_external_url = "https://push.localhost:{https}/"
VirtualHost "localhost"
Component "up.localhost" "unified_push"
  unified_push_acl = {{ "localhost" }}
Component "component.localhost"
  component_secret = "component-key"
"""


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def mac(key, data):
    code = hmac.HMAC(key, hashes.SHA256())
    code.update(data)
    return code.finalize()


def decrypted(body, device, secret):
    """RFC 8291, 3.4."""
    salt, sender, sealed = body[:16], body[21:86], body[86:]
    own = device.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    shared = device.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
    input = mac(mac(secret, shared), b"WebPush: info\0" + own + sender + b"\1")
    key = mac(salt, input)
    plain = AESGCM(mac(key, b"Content-Encoding: aes128gcm\0\1")[:16]).decrypt(mac(key, b"Content-Encoding: nonce\0\1")[:12], sealed, None)
    return plain.rstrip(b"\0")[:-1]


class Chain:
    def __init__(self):
        self.port = free_ports(3)
        self.device, self.secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        self.pushes, self.printed, self.push = 0, [], None
        self.victim, self.wakes = False, 0
        self.pushed = asyncio.Event()

    def begin(self):
        os.makedirs(f"{FOLDER}/data", exist_ok=True)
        import servers
        servers.SUBJECTS += ",DNS:push.localhost"
        self.authority = make_certificates(f"{FOLDER}/certs")
        open(f"{FOLDER}/prosody.cfg.lua", "w").write(
            CONFIGURATION.format(folder=FOLDER, port=self.port, https=self.port + 1, component=self.port + 2))
        for name in ("alice", "bob", "phone"):
            subprocess.run(["prosodyctl", "--config", f"{FOLDER}/prosody.cfg.lua", "register", name, "localhost", "secret"], check=True,
                           stdout=subprocess.DEVNULL)
        self.prosody = subprocess.Popen(["prosody", "--config", f"{FOLDER}/prosody.cfg.lua", "-F"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([PUSH, "webpush-key", f"{FOLDER}/web.pem"], check=True, stdout=subprocess.DEVNULL)
        json.dump({
            "component": {"componentHostname": "component.localhost", "componentKey": "component-key", "serverHostname": "127.0.0.1",
                          "serverPort": self.port + 2},
            "state": {"database": f"{FOLDER}/push.db", "secretFile": f"{FOLDER}/secret"}, "timeout": {"xmppconnectionError": "200ms"},
            "pushModules": {"web": {"type": "webpush", "ratelimit": {"ratelimitTime": "1s"}, "webpush": {
                "keyFilePath": "web.pem", "contact": "mailto:ops@example.org", "ownServices": [
                    {"host": "push.localhost", "port": self.port + 1, "address": "127.0.0.1", "caFile": self.authority}]}}}},
            open(f"{FOLDER}/settings.json", "w"))
        self.start_push()

    def start_push(self):
        self.log = open(f"{FOLDER}/push.log", "a+")
        at = self.log.seek(0, 2)
        self.push = subprocess.Popen([PUSH, "serve", f"{FOLDER}/settings.json"], stderr=self.log)
        end = time.time() + 20
        while "connected to the XMPP server" not in open(f"{FOLDER}/push.log").read()[at:]:
            if time.time() > end:
                raise TimeoutError("kalij-push does not connect")
            time.sleep(0.02)

    def client(self, name):
        client = slixmpp.ClientXMPP(f"{name}@localhost/x", "secret")
        client.ca_certs = self.authority
        client.connect(("127.0.0.1", self.port))
        return client

    def kalij(self, *words):
        return subprocess.run([KALIJ, "--data", f"{FOLDER}/bob", *words], env=dict(os.environ, KALIJ_PASSWORD="secret"), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)

    async def register(self):
        self.phone = self.client("phone")
        await self.phone.wait_until("session_start", 20)
        self.phone.register_handler(Callback("push", MatchXPath("{jabber:client}iq/{%s}push" % SPACE), self.received))
        iq = self.phone.make_iq_set(ito="up.localhost")
        names = [base64.b64encode(os.urandom(32)).decode() for _ in range(2)]
        iq.append(ElementTree.Element("{%s}register" % SPACE, {"application": names[0], "instance": names[1]}))
        answer = await iq.send(timeout=10)
        return answer.xml.find("{%s}registered" % SPACE).get("endpoint")

    def received(self, iq):
        body = base64.b64decode(iq.xml.find("{%s}push" % SPACE).text)
        if decrypted(body, self.device, self.secret) != b"look":
            raise ValueError("not what was sent")
        iq.reply().send()
        self.pushes += 1
        self.pushed.set()

    async def wake(self):
        """As the distributor does for each push."""
        while True:
            await self.pushed.wait()
            self.pushed.clear()
            self.wakes += 1
            run = await asyncio.create_subprocess_exec(
                KALIJ, "--data", f"{FOLDER}/bob", "--json", "wake", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if self.victim:
                self.victim = False
                await asyncio.sleep(0.03)
                run.kill()
            output = await run.communicate()
            for line in output[0].decode().splitlines():
                event = json.loads(line)
                if event.get("kind") == "show":
                    self.printed.append(event["body"])

    async def shown(self, text, seconds):
        end = time.time() + seconds
        while text not in self.printed and time.time() < end:
            await asyncio.sleep(0.02)
        return text in self.printed

    async def run(self):
        self.begin()
        endpoint = await self.register()
        point = self.device.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
        wrong = self.kalij("push", "enable", "component.localhost", "--endpoint", "https://127.0.0.1/", "--p256dh", encoded(point), "--auth", "AA")
        if wrong.returncode != 65 or "an address" not in wrong.stderr:
            raise RuntimeError(f"a forbidden endpoint: {wrong.returncode} {wrong.stderr}")
        for words in (["login", "bob@localhost", "--server", f"127.0.0.1:{self.port}", "--ca", self.authority],
                      ["push", "enable", "component.localhost", "--module", "web", "--endpoint", endpoint, "--p256dh", encoded(point),
                       "--auth", encoded(self.secret)]):
            done = self.kalij(*words)
            if done.returncode:
                raise RuntimeError(f"{words[0]}: {done.stderr}")
        alice = self.client("alice")
        await alice.wait_until("session_start", 20)
        waking = asyncio.ensure_future(self.wake())
        kills = {"kalij-push": 0, "kalij wake": 0}
        for number in range(COUNT):
            if number % 10 == 4:
                self.push.kill()
                self.push.wait()
                self.start_push()
                kills["kalij-push"] += 1
            self.victim = number % 10 == 7
            alice.send_message("bob@localhost", f"message {number}", mtype="chat")
            if self.victim:
                # Killed while it fetches: the next push brings this message, too.
                await asyncio.sleep(1)
                kills["kalij wake"] += 1
            elif not await self.shown(f"message {number}", 20):
                print(f"message {number} was not shown within 20 s", file=sys.stderr)
            if waking.done():
                waking.result()
            # Until the session hibernates, Prosody pushes nothing.
            await asyncio.sleep(0.2)
        if COUNT % 10 == 8:
            alice.send_message("bob@localhost", "end", mtype="chat")
        await asyncio.sleep(2)
        missing = [n for n in range(COUNT) if f"message {n}" not in self.printed]
        twice = len(self.printed) - len(set(self.printed))
        print(f"{COUNT} messages, {COUNT - len(missing)} printed, {twice} of them twice; {self.pushes} pushes, {self.wakes} runs of kalij wake; "
              f"kills: {kills}; missing {missing}")
        return bool(missing or twice)

    def end(self):
        for process in (self.push, getattr(self, "prosody", None)):
            if process:
                process.send_signal(signal.SIGTERM)
                process.wait()


chain = Chain()
try:
    failed = asyncio.get_event_loop().run_until_complete(chain.run())
finally:
    chain.end()
os._exit(failed)
