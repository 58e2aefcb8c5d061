#!/usr/bin/python3
"""The four servers on loopback: Debian 12's, which are installed, and Debian 13's from the folder in KALIJ_DEBIAN13.

  servers.py NAME [flight] [tickets] [as-installed]   starts a server with alice, bob and carol (password "secret"), prints a line of
                                                      JSON with the ports, and ends it with standard input

NAME is prosody12, prosody13, ejabberd12 or ejabberd13. "flight" switches on what Debian leaves off: SASL2, Bind 2, FAST, XEP-0474;
"tickets" lets Prosody take the tickets that it sends. The configurations are those of Kalij's laboratory. The certificate comes with
an intermediate one, 2.3 kB together, as a usual authority's do. Nothing is ended by name.
"""
import json, os, random, shutil, socket, struct, subprocess, sys, tempfile, time, urllib.request, zlib

HERE = os.path.dirname(os.path.abspath(__file__))
RESOURCES = os.path.join(HERE, "../../Sources/KalijLab/Resources")
NAMES = ("prosody12", "prosody13", "ejabberd12", "ejabberd13")
SUBJECTS = "DNS:localhost,DNS:conference.localhost,DNS:upload.localhost,IP:127.0.0.1"


def free_ports(count):
    while True:
        first = random.randrange(20000, 31000)
        held = []
        try:
            for port in range(first, first + count):
                held.append(socket.socket())
                held[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            pass
        finally:
            for one in held:
                one.close()


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30)


def make_certificates(folder, more=0):
    """An authority, an intermediate certificate with RSA as Let's Encrypt's is, and one for localhost with a P-256 key.

    The file localhost.crt holds the two that a server sends. `more` names of a length make them as large as wished.
    """
    os.makedirs(folder, exist_ok=True)
    path = lambda name: os.path.join(folder, name)
    rsa = ("-newkey", "rsa:2048", "-nodes", "-days", "30")
    openssl("req", "-x509", *rsa, "-subj", "/O=Laboratory/CN=Authority", "-keyout", path("root.key"), "-out", path("root.crt"))
    openssl("req", "-x509", *rsa, "-subj", "/C=US/O=Laboratory of Kalij/CN=L1", "-keyout", path("middle.key"), "-out",
            path("middle.crt"), "-CA", path("root.crt"), "-CAkey", path("root.key"), "-addext",
            "basicConstraints=critical,CA:TRUE,pathlen:0", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    names = SUBJECTS + "".join(",DNS:%s.%d.localhost" % ("x" * 50, number) for number in range(more))
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj",
            "/CN=localhost", "-keyout", path("localhost.key"), "-out", path("leaf.crt"), "-CA", path("middle.crt"), "-CAkey",
            path("middle.key"), "-addext", "subjectAltName=" + names, "-addext", "basicConstraints=critical,CA:FALSE")
    with open(path("localhost.crt"), "w") as chain:
        chain.write(open(path("leaf.crt")).read() + open(path("middle.crt")).read())
    return path("root.crt")


def certificate_bytes(path):
    """How many bytes the certificates of a file have in TLS."""
    import ssl
    parts = open(path).read().split("-----BEGIN")[1:]
    return sum(len(ssl.PEM_cert_to_DER_cert("-----BEGIN" + part[:part.index("-----END CERTIFICATE-----") + 25])) for part in parts)


class Server:
    def __init__(self, name, folder, flight=False, tickets=False, users=("alice", "bob", "carol"), archive=True, resumable=600,
                 queue=None):
        self.name, self.folder = name, os.path.abspath(folder)
        self.is_prosody, self.is_newer = name.startswith("prosody"), name.endswith("13")
        self.flight, self.tickets, self.archive, self.resumable, self.queue = flight and self.is_newer, tickets, archive, resumable, queue
        for part in ("certs", "log", "data"):
            os.makedirs(os.path.join(self.folder, part))
        self.port = free_ports(4)
        self.direct = self.port + 1
        self.authority = make_certificates(self.folder + "/certs", more=12)
        subprocess.run(["sqlite3", "-batch", self.folder + "/archive.sqlite", "PRAGMA journal_mode = WAL; VACUUM"], check=True,
                       stdout=subprocess.DEVNULL)
        self.configure()
        self.start()
        for user in users:
            self.register(user)

    def command(self, program, *arguments):
        """A process of the newer release sees the server's folder by a mount of its own."""
        if not self.is_newer:
            return [program, *arguments]
        root = os.path.join(os.environ["KALIJ_DEBIAN13"], "root")
        lua = ["/usr/bin/lua5.4"] if program.startswith("prosody") else []
        script = 'mkdir -p "$0$1" && mount --bind "$1" "$0$1" && root=$0 && shift && exec /usr/sbin/chroot "$root" "$@"'
        return ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, root, self.folder, *lua, "/usr/bin/" + program, *arguments]

    def configure(self):
        if self.is_prosody:
            text = open(RESOURCES + "/prosody.cfg.lua").read()
            if not self.archive:
                text = text.replace('"mam"; ', "").replace('if archive_policy == "always"', "if false")
            open(self.folder + "/prosody.cfg.lua", "w").write(text)
            shutil.os.makedirs(self.folder + "/plugins", exist_ok=True)
            self.environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "HOME": self.folder, "SERVER_DIR": self.folder,
                                "SERVER_PORT": str(self.port), "SMACKS_TTL": str(self.resumable)}
            if self.queue:
                self.environment["SMACKS_QUEUE"] = str(self.queue)
            if self.flight:
                self.environment["ONE_FLIGHT"] = "1"
            if self.tickets:
                self.environment["TLS_TICKETS"] = "1"
            return
        text = open(RESOURCES + "/ejabberd.yml").read()
        values = {"@DIR@": self.folder, "@PORT@": self.port, "@PORT1@": self.port + 1, "@PORT2@": self.port + 2,
                  "@HTTPS@": self.port + 3, "@NAMED@": os.environ.get("UPLOAD_PORT", self.port + 3), "@LIMIT@": 10485760,
                  "@DOMAIN@": "localhost",
                  "@AUTHORITY@": self.authority, "@ARCHIVE@": "always", "@ASSUME@": "true", "@RESUME@": self.resumable,
                  "@QUEUE@": self.queue or 5000}
        for name, value in values.items():
            text = text.replace(name, str(value))
        modules = ""
        if not self.archive:
            text = "".join(line for line in text.splitlines(True) if "mod_mam:" not in line)
            modules += "  mod_offline: {}\n"
        if self.flight and self.is_newer:
            modules += "  mod_auth_fast: {}\n"
        if os.environ.get("REGISTRATION") == "captcha":
            text = f"registration_timeout: infinity\ncaptcha_cmd: {self.make_riddles()}\ncaptcha_url: http://localhost/captcha\n" + text
            modules += "  mod_register: {ip_access: all, access: all, access_remove: all, captcha_protected: true}\n"
        open(self.folder + "/ejabberd.yml", "w").write(text.replace("modules:\n", "modules:\n" + modules))
        open(self.folder + "/localhost.pem", "w").write(
            open(self.folder + "/certs/localhost.key").read() + open(self.folder + "/certs/localhost.crt").read())
        self.environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "TZ": "UTC", "HOME": self.folder,
                            "ERL_LIBS": "/usr/lib/x86_64-linux-gnu", "EJABBERD_CONFIG_PATH": self.folder + "/ejabberd.yml",
                            "EJABBERD_LOG_PATH": self.folder + "/log/ejabberd.log", "EJABBERD_PID_PATH": self.folder + "/pid",
                            "ERL_CRASH_DUMP": "/dev/null"}

    def make_riddles(self):
        """A program for ejabberd's CAPTCHAs: the answer is in the file `riddle`, the picture is always the same."""
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        width, height = 120, 40
        lines = b"".join(b"\0" + bytes(255 * ((x * x + y * y) // 90 % 2) for x in range(width)) for y in range(height))
        header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
        picture = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
        # The newer release has a shell and no other programs.
        octal = "".join("%%" if byte == 37 else f"\\{byte:03o}" for byte in picture)
        program = self.folder + "/captcha.sh"
        open(program, "w").write(f"#!/bin/sh\necho \"$1\" > {self.folder}/riddle\nprintf '{octal}'\n")
        os.chmod(program, 0o755)
        return program

    def start(self):
        if self.is_prosody:
            words = self.command("prosody", "--config", self.folder + "/prosody.cfg.lua", "-F")
        else:
            self.mark = self.folder + "/archive-runs"
            if os.path.exists(self.mark):
                os.unlink(self.mark)
            # The archive's database starts with the first query, and fails it. So that one is ours.
            first = ('F = fun G() -> case catch lists:keymember(ejabberd, 1, application:which_applications()) of true -> '
                     'case catch ejabberd_sql:sql_query(<<"localhost">>, <<"SELECT 1">>) of {selected, _, _} -> '
                     'file:write_file("%s", ""); _ -> timer:sleep(20), G() end; _ -> timer:sleep(20), G() end end, spawn(F).'
                     % self.mark)
            words = self.command("erl", "-noinput", "-mnesia", "dir", '"%s/spool"' % self.folder, "-s", "ejabberd", "-eval", first)
        console = open(self.folder + "/console", "ab")
        self.process = subprocess.Popen(words, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=console,
                                        stderr=console)
        deadline = time.monotonic() + 40
        while not self.is_up():
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.stop()
                raise SystemExit("%s does not start: %s" % (self.name, open(self.folder + "/console").read()[-2000:]))
            time.sleep(0.02)

    def is_up(self):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", self.port + (1 if self.is_prosody else 2))):
                return False
        return self.is_prosody or os.path.exists(self.mark)

    def register(self, user, password="secret"):
        if self.is_prosody:
            words = self.command("prosodyctl", "--config", self.folder + "/prosody.cfg.lua", "register", user, "localhost", password)
            subprocess.run(words, env=self.environment, cwd=self.folder, check=True, stdout=subprocess.DEVNULL, timeout=30)
        else:
            self.api("register", user=user, host="localhost", password=password)

    def api(self, command, **arguments):
        """A command of ejabberd's."""
        url = "http://127.0.0.1:%d/api/%s" % (self.port + 2, command)
        return json.loads(urllib.request.urlopen(url, json.dumps(arguments).encode(), timeout=20).read() or "null")

    def log(self):
        path = "/prosody.log" if self.is_prosody else "/log/ejabberd.log"
        return open(self.folder + path, errors="replace").read()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def main():
    name, options = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="kalij-servers-") as folder:
        server = Server(name, folder, flight="flight" in options, tickets="tickets" in options, archive="as-installed" not in options)
        try:
            print(json.dumps({"name": name, "port": server.port, "direct": server.direct, "authority": server.authority,
                              "folder": server.folder, "pid": server.process.pid,
                              "certificates": certificate_bytes(server.folder + "/certs/localhost.crt")}), flush=True)
            sys.stdin.read()
        finally:
            server.stop()


if __name__ == "__main__":
    main()
