#!/usr/bin/python3
"""A message wakes a device through real servers and the session bus, without Apple and Google.

  push_chain.py KALIJ KALIJ-PUSH FOLDER COUNT      exit code 1 unless each of COUNT messages was printed once by `kalij wake`, but those that a
                                                   killed Prosody has never stored: alice's client does not send twice

alice's message, Prosody's mod_cloud_notify, kalij-push, Prosody's mod_unified_push as the push service (HTTP/1.1), a distributor that is logged in
there (distributor.py, the only stand-in), dbus-daemon, the connector that the bus starts, and `kalij wake` for bob. `kalij push unifiedpush` makes
the registration. Prosody is Debian 13's where KALIJ_DEBIAN13 names its folder. During each ten messages every part is killed once: the connector,
`kalij wake`, kalij-push, the distributor, the bus and, in every other ten, Prosody. What is supervised (all but the first two) is started again. A
message whose push a kill has ended comes with the next push.
"""
import asyncio, json, os, random, signal, subprocess, sys, time

import slixmpp

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from servers import free_ports, make_certificates

KALIJ, PUSH, FOLDER, COUNT = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
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


PARTS = {1: "connector", 2: "kalij wake", 3: "kalij-push", 4: "distributor", 5: "bus", 16: "Prosody"}


def prosody(program, *words):
    """The command of Debian 13's server if there is one; see DebianRelease.swift."""
    newer = os.environ.get("KALIJ_DEBIAN13", "")
    if not os.path.exists(newer + "/root/usr"):
        return [program, *words]
    script = 'mkdir -p "$0$1" && mount --bind "$1" "$0$1" && root=$0 && shift && exec /usr/sbin/chroot "$root" "$@"'
    return ["unshare", "-m", "/bin/sh", "-c", script, newer + "/root", FOLDER, "/usr/bin/lua5.4", "/usr/bin/" + program, *words]


def processes(*words):
    """The processes whose arguments have all the words, this chain's alone: each names its folder."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                arguments = open(f"/proc/{entry}/cmdline").read().split("\0")
            except OSError:
                continue
            if FOLDER + "/bob" in arguments and all(word in arguments for word in words):
                found.append(int(entry))
    return found


async def until(what, condition, seconds=20):
    end = time.time() + seconds
    while not condition():
        if time.time() > end:
            raise TimeoutError(what)
        await asyncio.sleep(0.02)


class Chain:
    def __init__(self):
        self.port = free_ports(3)
        self.kills = dict.fromkeys(PARTS.values(), 0)
        home = FOLDER + "/home"
        self.environment = dict(os.environ, HOME=home, XDG_DATA_HOME=home + "/data", XDG_CONFIG_HOME=home + "/config", KALIJ_PASSWORD="secret",
                                DBUS_SESSION_BUS_ADDRESS=f"unix:path={FOLDER}/bus", PYTHONDONTWRITEBYTECODE="1")
        # The bus reads service files in a folder that is there.
        for name in (home + "/data", home + "/config", FOLDER + "/data"):
            os.makedirs(name)
        self.running, self.alice = {}, None

    def prepare(self):
        import servers
        servers.SUBJECTS += ",DNS:push.localhost"
        self.authority = make_certificates(f"{FOLDER}/certs")
        self.configuration = f"{FOLDER}/prosody.cfg.lua"
        open(self.configuration, "w").write(
            CONFIGURATION.format(folder=FOLDER, port=self.port, https=self.port + 1, component=self.port + 2))
        for name in ("alice", "bob", "phone"):
            subprocess.run(prosody("prosodyctl", "--config", self.configuration, "register", name, "localhost", "secret"), check=True,
                           stdout=subprocess.DEVNULL)
        key = subprocess.run([PUSH, "webpush-key", f"{FOLDER}/web.pem"], check=True, stdout=subprocess.PIPE, text=True)
        self.key = key.stdout.split()[-1]
        json.dump({
            "component": {"componentHostname": "component.localhost", "componentKey": "component-key", "serverHostname": "127.0.0.1",
                          "serverPort": self.port + 2},
            "state": {"database": f"{FOLDER}/push.db", "secretFile": f"{FOLDER}/secret"}, "timeout": {"xmppconnectionError": "200ms"},
            "pushModules": {"web": {"type": "webpush", "ratelimit": {"ratelimitTime": "1s"}, "webpush": {
                "keyFilePath": "web.pem", "contact": "mailto:ops@example.org", "ownServices": [
                    {"host": "push.localhost", "port": self.port + 1, "address": "127.0.0.1", "caFile": self.authority}]}}}},
            open(f"{FOLDER}/settings.json", "w"))

    # What is supervised.

    async def start(self, part):
        words = {
            "Prosody": prosody("prosody", "--config", self.configuration, "-F") if part == "Prosody" else None,
            "kalij-push": [PUSH, "serve", f"{FOLDER}/settings.json"],
            "bus": ["dbus-daemon", "--session", "--nofork", f"--address=unix:path={FOLDER}/bus"],
            "distributor": ["/usr/bin/python3", HERE + "/distributor.py", "lab", FOLDER + "/distributor.json", str(self.port), self.authority],
        }[part]
        log = open(f"{FOLDER}/{part}.log", "a+")
        before = log.seek(0, 2)
        self.running[part] = subprocess.Popen(words, env=self.environment, stdout=log, stderr=log)
        if part == "kalij-push":
            await until("kalij-push connects", lambda: "connected to the XMPP server" in open(log.name).read()[before:])
        elif part == "bus":
            await until("the bus", lambda: os.path.exists(FOLDER + "/bus"))
        elif part == "Prosody":
            await until("Prosody", lambda: self.listens(self.port) and self.listens(self.port + 2))
        elif part == "distributor":
            await until("the distributor", lambda: b"Distributor.lab" in subprocess.run(
                ["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.ListNames"],
                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)

    def listens(self, port):
        return "%04X" % port in {line.split()[1][-4:] for line in open("/proc/net/tcp") if " 0A " in line}

    def end(self, part, number=signal.SIGKILL):
        process = self.running.pop(part, None)
        if process:
            process.send_signal(number)
            process.wait()

    async def connect_alice(self):
        self.alice = slixmpp.ClientXMPP("alice@localhost/x", "secret")
        self.alice.ca_certs = self.authority
        self.alice.connect(("127.0.0.1", self.port))
        await self.alice.wait_until("session_start", 20)

    async def kill(self, part):
        """While the message before makes its way."""
        self.kills[part] += 1
        if part in ("connector", "kalij wake"):
            words = ("unifiedpush", "--activated") if part == "connector" else ("wake",)
            await until(part, lambda: processes(*words))
            await asyncio.sleep(random.random() * 0.1)
            for pid in processes(*words):
                os.kill(pid, signal.SIGKILL)
            return
        await asyncio.sleep(random.random() * 0.3)
        self.end(part)
        if part == "Prosody":
            self.alice.abort()
        if part == "bus":
            os.unlink(FOLDER + "/bus")
            await until("the distributor ends with its bus", lambda: self.running["distributor"].poll() is not None)
        await self.start(part)
        if part == "bus":
            await self.start("distributor")
        if part == "Prosody":
            await self.connect_alice()
            log = f"{FOLDER}/kalij-push.log"
            await until("kalij-push connects again",
                        lambda: open(log).read().rfind("connected to the XMPP server") > open(log).read().rfind("onnection lost"))

    # What is tested.

    def kalij(self, *words):
        done = subprocess.run([KALIJ, "--data", f"{FOLDER}/bob", *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
        if done.returncode:
            raise RuntimeError(f"{words[:2]}: {done.returncode} {done.stderr}")
        return done.stdout

    def printed(self):
        path = FOLDER + "/printed"
        lines = [json.loads(line) for line in open(path)] if os.path.exists(path) else []
        return [line["body"] for line in lines if line.get("kind") == "show"]

    async def run(self):
        self.prepare()
        for part in ("Prosody", "kalij-push", "bus", "distributor"):
            await self.start(part)
        self.kalij("login", "bob@localhost", "--server", f"127.0.0.1:{self.port}", "--ca", self.authority)
        begin = time.time()
        self.kalij("push", "unifiedpush", "component.localhost", "--module", "web", "--vapid", self.key, "--command",
                   f"exec {KALIJ} --data {FOLDER}/bob --json wake >> {FOLDER}/printed")
        print(f"registered in {time.time() - begin:.1f} s; {self.kalij('push', 'unifiedpush').strip()}")
        await self.connect_alice()
        times = []
        for number in range(COUNT):
            part = PARTS.get(number % 20) or PARTS.get(number % 10)
            self.alice.send_message("bob@localhost", f"message {number}", mtype="chat")
            begin = time.time()
            if part:
                await self.kill(part)
                await asyncio.sleep(0.5)
            else:
                try:
                    await until("", lambda: f"message {number}" in self.printed())
                    times.append(time.time() - begin)
                except TimeoutError:
                    print(f"message {number} was not shown within 20 s", file=sys.stderr)
            # Until the session hibernates, Prosody pushes nothing.
            await until("`kalij wake` ends", lambda: not processes("wake"))
            await asyncio.sleep(0.2)
        self.alice.send_message("bob@localhost", "end", mtype="chat")
        texts = [f"message {number}" for number in range(COUNT)] + ["end"]
        try:
            await until("", lambda: set(texts) <= set(self.printed()))
        except TimeoutError:
            pass
        await asyncio.sleep(1)
        return self.report(texts, times)

    def report(self, texts, times):
        printed = self.printed()
        archive = open(f"{FOLDER}/data/localhost/archive/bob.list").read()
        lost = [text for text in texts if f'"{text}"' not in archive]
        missing = [text for text in texts if text not in printed and text not in lost]
        registrations = json.load(open(FOLDER + "/distributor.json"))
        pushes = open(FOLDER + "/distributor.log").read().count("push\n")
        times.sort()
        median = times[len(times) // 2] if times else 0
        twice = len(printed) - len(set(printed))
        print(f"{len(texts)} messages, {len(lost)} never stored by the server, {len(texts) - len(lost) - len(missing)} printed, {twice} of them twice; {pushes} pushes on the bus, a message is printed "
              f"after {median:.2f} s (median); {len(registrations)} registration at the distributor; kills: {self.kills}; missing {missing}")
        return bool(missing or twice or len(lost) > self.kills["Prosody"] or len(registrations) != 1 or pushes < COUNT // 2)

    def close(self):
        for part in ("distributor", "bus", "kalij-push", "Prosody"):
            self.end(part, signal.SIGTERM)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
chain = Chain()
try:
    failed = asyncio.get_event_loop().run_until_complete(chain.run())
finally:
    chain.close()
sys.stdout.flush()
os._exit(failed)
