"""A Prosody on loopback, an obedient client, and the CPU time of a process, for benchmarks."""
import base64, os, re, socket, ssl, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDING = os.path.join(HERE, "../Receive/recording.py")
CONFIGURATION = os.path.join(HERE, "../../Sources/KalijLab/Resources/prosody.cfg.lua")


def free_ports(count):
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            first = probe.getsockname()[1]
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            pass


class Prosody:
    def __init__(self, folder, users=("alice", "bob"), resumable=600):
        self.folder = folder
        self.port = free_ports(3)
        self.environment = {**os.environ, "SERVER_DIR": folder, "SERVER_PORT": str(self.port), "SMACKS_TTL": str(resumable)}
        os.makedirs(folder + "/data")
        os.makedirs(folder + "/certs")
        # Prosody's debug log would cost more than its work.
        text = open(CONFIGURATION).read().replace('min = "debug"', 'min = "info"')
        open(folder + "/prosody.cfg.lua", "w").write(text)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
             folder + "/certs/localhost.key", "-out", folder + "/certs/localhost.crt"], check=True, stderr=subprocess.DEVNULL)
        subprocess.run(["sqlite3", "-batch", folder + "/archive.sqlite", "PRAGMA journal_mode = WAL; VACUUM"], check=True,
                       stdout=subprocess.DEVNULL)
        for user in users:
            subprocess.run(["prosodyctl", "--config", folder + "/prosody.cfg.lua", "register", user, "localhost", "secret"],
                           check=True, env=self.environment, stdout=subprocess.DEVNULL)
        self.process = subprocess.Popen(["prosody", "--config", folder + "/prosody.cfg.lua", "-F"], env=self.environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port + 1)).close()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("prosody does not start")

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Client:
    """Sends the given bytes, with TLS from the first byte."""
    HEADER = (b"<?xml version='1.0'?><stream:stream xmlns='jabber:client' to='localhost' version='1.0' "
              b"xmlns:stream='http://etherx.jabber.org/streams'>")

    def __init__(self, server, user):
        context = ssl._create_unverified_context()
        self.connection = context.wrap_socket(socket.create_connection(("127.0.0.1", server.port + 1)),
                                              server_hostname="localhost")
        self.buffer = b""
        self.say(self.HEADER, b"</stream:features>")
        plain = base64.b64encode(b"\0" + user.encode() + b"\0secret")
        self.say(b"<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>" + plain + b"</auth>", b"<success")
        self.say(self.HEADER, b"</stream:features>")
        self.say(b"<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>", b"</iq>")

    def say(self, data, wanted):
        self.buffer = b""
        self.connection.sendall(data)
        while wanted not in self.buffer:
            piece = self.connection.recv(65536)
            if not piece:
                raise SystemExit("prosody has closed the connection")
            self.buffer += piece

    def archive(self, messages):
        """Sends messages, with a ping after each hundred: a server that does not read them is not given more."""
        for place, message in enumerate(messages, 1):
            self.connection.sendall(message)
            if place % 100 == 0 or place == len(messages):
                self.ping("localhost", place)

    def ping(self, recipient, number):
        identifier = b"ping-%d-" % number
        start = time.monotonic()
        self.say(b"<iq type='get' id='" + identifier + b"' to='" + recipient.encode() + b"'><ping xmlns='urn:xmpp:ping'/></iq>",
                 identifier)
        return time.monotonic() - start


def recorded(user, count, *options):
    """Messages of the recorded stream, to a user of the laboratory."""
    stream = subprocess.run([sys.executable, RECORDING, str(count), *options], check=True, capture_output=True).stdout
    return [
        re.sub(rb" from='[^']*'", b"", message).replace(b"'juliet@localhost/scripted'", b"'%s@localhost'" % user.encode())
        for message in re.findall(rb"<message .*?</message>", stream)]


def usage(pid):
    """CPU seconds."""
    fields = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
    ticks = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    try:
        # In nanoseconds, for a process of one thread.
        return sum(int(open("/proc/%d/task/%s/schedstat" % (pid, task)).read().split()[0])
                   for task in os.listdir("/proc/%d/task" % pid)) / 1e9
    except OSError:
        return ticks
