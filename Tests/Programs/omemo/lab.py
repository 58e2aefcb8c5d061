"""The servers and processes of the demonstration: Prosody 0.12 and ejabberd 23.01 of Debian 12, on loopback only.

Their configurations are those of Kalij's laboratory. Nothing is ended by name: each process is ended by its id. Every
wait has an end.
"""
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

from sandbox import end, wait

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIGURATIONS = os.path.join(HERE, "../../../Sources/KalijLab/Resources")


def three_ports():
    """The first of three free ports in a row."""
    for _ in range(200):
        first = random.randrange(20000, 31000)
        held = []
        try:
            for port in range(first, first + 3):
                one = socket.socket()
                held.append(one)
                one.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in held:
                one.close()
    raise TimeoutError("no three free ports")


class Server:
    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        os.makedirs(self.folder + "/certs")
        os.makedirs(self.folder + "/log")
        os.makedirs(self.folder + "/data")
        self.port = three_ports()
        # Of the upload service: Prosody's third port.
        self.https = self.port + 2
        self.authority = self.folder + "/certs/localhost.crt"
        names = "DNS:localhost,DNS:conference.localhost,DNS:upload.localhost,IP:127.0.0.1"
        subprocess.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
            "-subj", "/CN=localhost", "-keyout", self.folder + "/certs/localhost.key", "-out", self.authority,
            "-addext", "subjectAltName=" + names], check=True, stderr=subprocess.DEVNULL, timeout=30)

    def console(self):
        return open(self.folder + "/console", "ab")

    def await_start(self, seconds, what, ready):
        """Waits for the server; ends it if it does not come."""
        def alive():
            if self.process.poll() is not None:
                raise TimeoutError("the server ended instead of %s: see %s/console" % (what, self.folder))
            return ready()
        try:
            wait(seconds, what, alive)
        except TimeoutError:
            end([self.process])
            raise

    def stop(self):
        end([self.process])


class Prosody(Server):
    name = "Prosody"

    def __init__(self, folder):
        super().__init__(folder)
        with open(CONFIGURATIONS + "/prosody.cfg.lua", encoding="utf-8") as source:
            text = source.read()
        with open(self.folder + "/prosody.cfg.lua", "w", encoding="utf-8") as target:
            target.write(text)
        self.environment = {**os.environ, "SERVER_DIR": self.folder, "SERVER_PORT": str(self.port)}
        self.start()

    def start(self):
        with self.console() as console:
            self.process = subprocess.Popen(
                ["prosody", "--config", self.folder + "/prosody.cfg.lua", "-F"], env=self.environment,
                cwd=self.folder, stdout=console, stderr=console)
        self.await_start(20, "Prosody on port %d" % self.port, lambda: listening(self.port + 1))

    def register(self, user, password):
        subprocess.run(
            ["prosodyctl", "--config", self.folder + "/prosody.cfg.lua", "register", user, "localhost", password],
            env=self.environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30)


class Ejabberd(Server):
    name = "ejabberd"

    def __init__(self, folder):
        super().__init__(folder)
        self.https = three_ports()
        with open(CONFIGURATIONS + "/ejabberd.yml", encoding="utf-8") as source:
            text = source.read()
        for name, value in (("@DIR@", self.folder), ("@PORT@", self.port), ("@PORT1@", self.port + 1),
                            ("@PORT2@", self.port + 2), ("@HTTPS@", self.https), ("@LIMIT@", 10485760),
                            ("@DOMAIN@", "localhost"), ("@AUTHORITY@", self.authority), ("@ARCHIVE@", "always"), ("@ASSUME@", "true"), ("@RESUME@", 600), ("@QUEUE@", 5000)):
            text = text.replace(name, str(value))
        with open(self.folder + "/ejabberd.yml", "w", encoding="utf-8") as target:
            target.write(text)
        with open(self.folder + "/localhost.pem", "w", encoding="utf-8") as target:
            for name in ("localhost.key", "localhost.crt"):
                with open(self.folder + "/certs/" + name, encoding="utf-8") as source:
                    target.write(source.read())
        self.environment = {
            **os.environ, "ERL_LIBS": "/usr/lib/x86_64-linux-gnu",
            "EJABBERD_CONFIG_PATH": self.folder + "/ejabberd.yml",
            "EJABBERD_LOG_PATH": self.folder + "/log/ejabberd.log", "EJABBERD_PID_PATH": self.folder + "/pid",
            "HOME": self.folder, "ERL_CRASH_DUMP": "/dev/null"}
        self.start()

    def start(self):
        # The archive's database starts with the first query, and fails it. So that one is ours
        # (measured by Kalij's laboratory).
        mark = self.folder + "/archive-runs"
        if os.path.exists(mark):
            os.unlink(mark)
        first = (
            'F = fun G() -> case catch lists:keymember(ejabberd, 1, application:which_applications()) of true -> '
            'case catch ejabberd_sql:sql_query(<<"localhost">>, <<"SELECT 1">>) of {selected, _, _} -> '
            'file:write_file("%s", ""); _ -> timer:sleep(20), G() end; _ -> timer:sleep(20), G() end end, spawn(F).'
            % mark)
        with self.console() as console:
            self.process = subprocess.Popen(
                ["erl", "+S", "1:1", "-noinput", "-mnesia", "dir", '"%s/spool"' % self.folder, "-s", "ejabberd",
                 "-eval", first], env=self.environment, cwd=self.folder, stdout=console, stderr=console)
        self.await_start(40, "ejabberd on port %d" % self.port, lambda: listening(self.port + 2))
        self.await_start(40, "ejabberd's archive", lambda: os.path.exists(mark))

    def register(self, user, password):
        body = json.dumps({"user": user, "host": "localhost", "password": password}).encode()
        urllib.request.urlopen("http://127.0.0.1:%d/api/register" % (self.port + 2), body, timeout=20).read()


def listening(port):
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", port)) == 0


class Program:
    """A peer's process: lines of JSON in, lines of JSON out."""

    def __init__(self, arguments, environment, errors):
        self.seen = []
        with open(errors, "ab") as sink:
            self.process = subprocess.Popen(
                arguments, env={**os.environ, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=sink)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if os.environ.get("SHOW_LINES"):
                sys.stderr.write("   %s\n" % line.decode().strip()[:300])
            try:
                self.seen.append(json.loads(line))
            except ValueError:
                sys.stderr.write("   not JSON: %r\n" % line[:200])

    def do(self, **command):
        self.process.stdin.write(json.dumps(command).encode() + b"\n")
        self.process.stdin.flush()

    def find(self, **wanted):
        for one in list(self.seen):
            if all(one.get(name) == value for name, value in wanted.items()):
                return one
        return None

    def wait(self, seconds, **wanted):
        def ready():
            if self.process.poll() is not None and not self.find(**wanted):
                raise TimeoutError("the process ended with %s instead of %r" % (self.process.returncode, wanted))
            return self.find(**wanted)
        return wait(seconds, json.dumps(wanted), ready)

    def quit(self):
        if self.process.poll() is None:
            try:
                self.process.stdin.close()
                self.process.wait(15)
            except (subprocess.TimeoutExpired, BrokenPipeError):
                end([self.process])

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)
