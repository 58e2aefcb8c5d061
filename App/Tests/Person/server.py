"""A Prosody for one tour: Debian 13's if KALIJ_DEBIAN13 has it, else the installed one; or an ejabberd; and another person who uses it by slixmpp."""
import asyncio
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time

import slixmpp

HERE = pathlib.Path(__file__).resolve().parent
CONFIGURATION = HERE.parents[2] / "Sources/KalijLab/Resources/prosody.cfg.lua"


def free_port():
    """The first of three free ports."""
    while True:
        first = socket.socket()
        first.bind(("127.0.0.1", 0))
        port = first.getsockname()[1]
        first.close()
        try:
            for more in (1, 2):
                with socket.socket() as other:
                    other.bind(("127.0.0.1", port + more))
            return port
        except OSError:
            continue


def newer():
    """The root of Debian 13's servers; None if they are not there."""
    root = os.environ.get("KALIJ_DEBIAN13", "") + "/root"
    return root if os.path.exists(root + "/usr") else None


class Server:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder) / "prosody"
        for name in ("certs", "data", "plugins"):
            (self.folder / name).mkdir(parents=True)
        self.port = free_port()
        self.certificate = self.folder / "certs/localhost.crt"
        # Valid for a clock that is a day behind, too.
        before = ["faketime", "-f", "-2d"] if shutil.which("faketime") else []
        subprocess.run(
            [*before, "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj",
             "/CN=localhost", "-keyout", self.folder / "certs/localhost.key", "-out", self.certificate, "-addext",
             "subjectAltName=DNS:localhost,DNS:conference.localhost,DNS:upload.localhost,IP:127.0.0.1"],
            check=True, capture_output=True)
        (self.folder / "prosody.cfg.lua").write_text(CONFIGURATION.read_text())
        subprocess.run(["sqlite3", "-batch", self.folder / "archive.sqlite", "PRAGMA journal_mode = WAL; VACUUM"], check=True,
                       capture_output=True)
        self.process = None

    @property
    def files_port(self):
        return self.port + 2

    def command(self, program, *words):
        words = ["--config", str(self.folder / "prosody.cfg.lua"), *words]
        root = newer()
        if not root:
            return [program, *words]
        stage = os.environ["STAGE"]
        script = 'mkdir -p "$0$1" && mount --bind "$1" "$0$1" && root=$0 && shift && exec /usr/sbin/chroot "$root" "$@"'
        return ["unshare", "-m", "/bin/sh", "-c", script, root, stage, "/usr/bin/lua5.4", "/usr/bin/" + program, *words]

    @property
    def environment(self):
        return os.environ | {"SERVER_DIR": str(self.folder), "SERVER_PORT": str(self.port), "SMACKS_TTL": "600"}

    def start(self):
        console = open(self.folder / "console", "ab")
        self.process = subprocess.Popen(self.command("prosody", "-F"), env=self.environment, cwd=self.folder, stdout=console,
                                        stderr=console, stdin=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
            if self.process.poll() is not None:
                break
        raise SystemExit("prosody does not start: " + (self.folder / "console").read_text()[-2000:])

    def register(self, user, password):
        subprocess.run(self.command("prosodyctl", "register", user, "localhost", password), env=self.environment, check=True,
                       capture_output=True)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=20)
            self.process = None


class Ejabberd:
    """Debian 13's ejabberd if KALIJ_DEBIAN13 has it, else the installed one, as the laboratory has it."""

    def __init__(self, folder):
        self.folder, self.server = folder + "/ejabberd", None

    def start(self):
        if self.server:
            return self.server.start()
        sys.path.insert(0, str(HERE.parents[2] / "Tests/Programs"))
        import servers
        os.mkdir(self.folder)
        self.server = servers.Server("ejabberd13" if newer() else "ejabberd", self.folder, users=())
        self.port, self.certificate = self.server.port, self.server.authority

    @property
    def files_port(self):
        return self.port + 3

    def register(self, user, password):
        self.server.register(user, password)

    def stop(self):
        if self.server:
            self.server.stop()


def server(folder):
    """The server that PERSON_SERVER names: Prosody unless it says `ejabberd`."""
    return Ejabberd(folder) if os.environ.get("PERSON_SERVER") == "ejabberd" else Server(folder)


class OtherPerson:
    """Somebody with another program, on a thread of its own."""

    def __init__(self, server, user, password):
        self.received = []
        #: When a text came first.
        self.came = {}
        #: The id of the message with a text.
        self.ids = {}
        self.changed = threading.Condition()
        self.loop = asyncio.new_event_loop()
        self.online = threading.Event()
        self.jid = user + "@localhost"
        arguments = (server, user, password)
        self.thread = threading.Thread(target=self.run, args=arguments, daemon=True)
        self.thread.start()
        if not self.online.wait(30):
            raise SystemExit(self.jid + " does not get online")

    def run(self, server, user, password):
        asyncio.set_event_loop(self.loop)
        self.client = slixmpp.ClientXMPP(self.jid, password)
        self.client.ca_certs = str(server.certificate)
        self.client.add_event_handler("session_start", self.started)
        self.client.add_event_handler("message", self.heard)
        self.client.register_plugin("xep_0184")
        self.client.register_plugin("xep_0313")
        self.client.connect(("127.0.0.1", server.port))
        self.loop.run_forever()

    async def started(self, _):
        self.client.send_presence()
        await self.client.get_roster()
        self.online.set()

    def heard(self, message):
        if message["body"]:
            with self.changed:
                self.received.append(message["body"])
                self.came.setdefault(message["body"], time.monotonic())
                self.ids[message["body"]] = message["id"]
                self.changed.notify_all()

    def say(self, to, *texts):
        def send():
            for text in texts:
                self.client.send_message(mto=to, mbody=text, mtype="chat")
        self.loop.call_soon_threadsafe(send)

    def display(self, text):
        """Marks a message as read (XEP-0333)."""
        marker = f"<displayed xmlns='urn:xmpp:chat-markers:0' id='{self.ids[text]}'/>"
        self.loop.call_soon_threadsafe(self.client.send_raw, f"<message to='romeo@localhost' type='chat'>{marker}</message>")

    def archive(self):
        """The bodies in this person's archive (XEP-0313), the oldest first."""
        future = asyncio.run_coroutine_threadsafe(self.read_archive(), self.loop)
        return future.result(60)

    async def read_archive(self):
        bodies = []
        async for page in self.client["xep_0313"].retrieve(iterator=True, rsm={"max": 100}):
            bodies += [result["mam_result"]["forwarded"]["stanza"]["body"] for result in page["mam"]["results"]]
        return [body for body in bodies if body]

    def wait_for(self, text, seconds=20):
        with self.changed:
            if not self.changed.wait_for(lambda: text in self.received, seconds):
                raise SystemExit(f"{self.jid} has not received {text!r}, but {self.received!r}")
