#!/usr/bin/python3
"""Bad distributors, and strangers on the session bus, against `kalij push unifiedpush`.

  unifiedpush.py KALIJ DATA FOLDER KILLS      DATA is the folder of an account that is logged in; prints a line for each case, exit code 1 if one fails

The bus is real, the distributor is this program, which answers as each case says. Bodies are encrypted by python3-cryptography (RFC 8291).
"""
import base64, json, os, random, shutil, signal, subprocess, sys, threading, time

from cryptography.hazmat.primitives import hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from gi.repository import Gio, GLib

KALIJ, DATA, FOLDER, KILLS = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
BUS = f"unix:path={FOLDER}/bus"
HOME = FOLDER + "/home"
ENVIRONMENT = dict(os.environ, HOME=HOME, XDG_DATA_HOME=HOME + "/data", XDG_CONFIG_HOME=HOME + "/config", DBUS_SESSION_BUS_ADDRESS=BUS)
LOOKS = FOLDER + "/looks"
INTERFACES = {
    2: """<node><interface name="org.unifiedpush.Distributor2">
      <method name="Register"><arg type="a{sv}" direction="in"/><arg type="a{sv}" direction="out"/></method>
      <method name="Unregister"><arg type="a{sv}" direction="in"/><arg type="a{sv}" direction="out"/></method></interface></node>""",
    1: """<node><interface name="org.unifiedpush.Distributor1">
      <method name="Register"><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/>
        <arg type="s" direction="out"/><arg type="s" direction="out"/></method>
      <method name="Unregister"><arg type="s" direction="in"/></method></interface></node>""",
}
BEGIN = time.time()
failures = []


def check(what, condition, more=""):
    print(f"{time.time() - BEGIN:6.1f} s  " + ("ok      " if condition else "FAILED  ") + what + (f": {more}" if more or not condition else ""), flush=True)
    if not condition:
        failures.append(what)


def until(condition, seconds=20):
    end = time.time() + seconds
    while not condition():
        if time.time() > end:
            return False
        time.sleep(0.02)
    return True


def mac(key, data):
    code = hmac.HMAC(key, hashes.SHA256())
    code.update(data)
    return code.finalize()


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encrypted(node, text=b"look"):
    """RFC 8291, 3.4, for the keys in a node."""
    keys = dict(part.split("=", 1) for part in node.split("#", 1)[1].split(";"))
    device, secret, salt = decoded(keys["p256dh"]), decoded(keys["auth"]), os.urandom(16)
    key = ec.generate_private_key(ec.SECP256R1())
    own = key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    shared = key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), device))
    input = mac(mac(secret, shared), b"WebPush: info\0" + device + own + b"\1")
    pseudo = mac(salt, input)
    content, nonce = mac(pseudo, b"Content-Encoding: aes128gcm\0\1")[:16], mac(pseudo, b"Content-Encoding: nonce\0\1")[:12]
    return salt + (4096).to_bytes(4, "big") + bytes([65]) + own + AESGCM(content).encrypt(nonce, text + b"\2", None)


class Distributor:
    """`answer` returns (result, reason, endpoints) for a request, or None for no answer at all."""

    def __init__(self, name, answer, version=2):
        self.answer, self.version, self.requests, self.ended = answer, version, [], []
        self.bus = Gio.DBusConnection.new_for_address_sync(
            BUS, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
        node = Gio.DBusNodeInfo.new_for_xml(INTERFACES[version])
        self.bus.register_object("/org/unifiedpush/Distributor", node.interfaces[0], self.called, None, None)
        self.name = "org.unifiedpush.Distributor." + name
        self.bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                           GLib.Variant("(su)", (self.name, 4)), None, 0, -1, None)

    def called(self, bus, sender, path, interface, method, arguments, invocation):
        words = arguments.unpack()
        if method == "Unregister":
            self.ended.append(words[0]["token"] if self.version == 2 else words[0])
            invocation.return_value(GLib.Variant("(a{sv})", ({},)) if self.version == 2 else None)
            return
        request = words[0] if self.version == 2 else dict(zip(("service", "token", "description"), words))
        self.requests.append(request)
        self.service, self.token = request["service"], request["token"]
        answer = self.answer(request)
        if answer is None:
            return
        result, reason, endpoints = answer
        fields = {"success": GLib.Variant("s", result), "reason": GLib.Variant("s", reason)}
        invocation.return_value(GLib.Variant("(a{sv})", (fields,)) if self.version == 2 else GLib.Variant("(ss)", (result, reason)))
        for endpoint in endpoints:
            self.endpoint(endpoint)

    def send(self, method, *fields, token=None, bus=None):
        token = self.token if token is None else token
        if self.version == 2:
            arguments = GLib.Variant("(a{sv})", (dict([("token", GLib.Variant("s", token)), *fields]),))
        else:
            values = [value for _, value in fields] + ([GLib.Variant("s", "")] if method == "Message" else [])
            arguments = GLib.Variant.new_tuple(GLib.Variant("s", token), *values)
        (bus or self.bus).call(self.service, "/org/unifiedpush/Connector", f"org.unifiedpush.Connector{self.version}", method, arguments, None, 0, -1,
                               None, None)

    def endpoint(self, text, **more):
        self.send("NewEndpoint", ("endpoint", GLib.Variant("s", text)), **more)

    def message(self, body, **more):
        self.send("Message", ("message", GLib.Variant.new_from_bytes(GLib.VariantType("ay"), GLib.Bytes.new(body), True)), **more)

    def close(self):
        self.bus.close_sync(None)


def start_bus():
    process = subprocess.Popen(["dbus-daemon", "--session", "--nofork", f"--address={BUS}"], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    until(lambda: os.path.exists(FOLDER + "/bus"))
    return process


def kalij(*words, data=DATA):
    return subprocess.run([KALIJ, "--data", data, *words], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def register(*words):
    return kalij("push", "unifiedpush", "component.localhost", "--command", f"echo look >> {LOOKS}", *words)


def node():
    done = kalij("push", "--json", "status")
    return (json.loads(done.stdout) if done.stdout else {}).get("node")


def looks():
    return len(open(LOOKS).readlines()) if os.path.exists(LOOKS) else 0


def stored():
    path = DATA + "/unifiedpush.json"
    return json.load(open(path)) if os.path.exists(path) else []


def connectors():
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                arguments = open(f"/proc/{entry}/cmdline").read().split("\0")
            except OSError:
                continue
            if "--activated" in arguments and os.path.realpath(DATA) in arguments:
                found.append(int(entry))
    return found


def services():
    """The service files for DATA; the copy has one, too."""
    folder = HOME + "/data/dbus-1/services"
    paths = [folder + "/" + name for name in os.listdir(folder)] if os.path.exists(folder) else []
    return [path for path in paths if f'"{os.path.realpath(DATA)}"' in open(path).read()]


def serving(endpoints):
    return lambda request: ("REGISTRATION_SUCCEEDED", "", endpoints)


def refusals():
    done = kalij("push", "unifiedpush", "component.localhost")
    check("no distributor: 69", done.returncode == 69 and "no UnifiedPush distributor" in done.stderr, done.stderr.strip())
    done = kalij("push", "unifiedpush")
    check("no registration: 1", done.returncode == 1, done.stdout.strip())
    silent = Distributor("silent", lambda request: None)
    # In a copy, because 30 seconds pass.
    shutil.copytree(DATA, DATA + "-copy")
    waiting = subprocess.Popen([KALIJ, "--data", DATA + "-copy", "push", "unifiedpush", "component.localhost"], env=ENVIRONMENT,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until(lambda: silent.requests)
    other = Distributor("other", lambda request: ("REGISTRATION_FAILED", "ACTION_REQUIRED", []))
    done = register()
    check("several distributors: 64, named", done.returncode == 64 and "other, silent" in done.stderr, done.stderr.split("\n")[0])
    done = register("--distributor", "missing")
    check("an unknown distributor: 69", done.returncode == 69 and "missing" in done.stderr, done.stderr.strip())
    done = register("--distributor", "other")
    check("a refusal: 69 with the reason", done.returncode == 69 and "ACTION_REQUIRED" in done.stderr, done.stderr.strip())
    for what, endpoint in (("http://", "http://push.localhost/1"), ("of 10 kB", "https://push.localhost/" + "a" * 10_000), ("at an address", "https://10.0.0.1/"),
                           ("that is no URL", "not_an_url")):
        other.answer = serving([endpoint])
        done = register("--distributor", "other")
        check(f"an endpoint {what}: 69", done.returncode == 69 and not stored(), done.stderr.strip()[:100])
    check("each was ended at the distributor", len(other.ended) == 5, str(len(other.ended)))
    check("nothing is left", not stored() and node() is None)
    done = register("--distributor", "other", "--vapid", "AAAA")
    check("a key that is none: 65", done.returncode == 65, done.stderr.strip())
    other.close()
    return waiting, silent


def registration():
    lab = Distributor("lab", serving(["https://push.localhost/1", "https://push.localhost/1"]))
    done = register("--vapid", VAPID, "--distributor", "lab")
    request = lab.requests[-1]
    check("registered, by an endpoint that came twice", done.returncode == 0 and (node() or "").startswith("https://push.localhost/1#"), done.stderr.strip())
    check("the distributor has the sender's key and a description", request.get("vapid") == VAPID and "alice@localhost" in request["description"])
    former = stored()[0]
    done = register("--vapid", VAPID)
    check("again: the same token and keys", done.returncode == 0 and len(stored()) == 1 and stored()[0]["token"] == former["token"]
          and stored()[0]["publicKey"] == former["publicKey"])
    return lab


def messages(lab):
    key = node()
    lab.message(encrypted(key))
    check("a message: a look", until(lambda: looks() == 1), str(looks()))
    other = ec.generate_private_key(ec.SECP256R1()).public_key()
    point = other.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    foreign = "https://push.localhost/1#p256dh=%s;auth=%s" % (base64.urlsafe_b64encode(point).rstrip(b"=").decode(), "BTBZMqHH6r4Tts7J_aSIgg")
    replayed = encrypted(key)
    lab.message(replayed)
    check("another: another look", until(lambda: looks() == 2), str(looks()))
    for number in range(50):
        lab.message(encrypted(foreign))
        lab.message(replayed)
        lab.message(bytes(number))
        lab.message(encrypted(key), token="wrong")
    lab.message(os.urandom(10_000_000))
    lab.message(encrypted(key), bus=STRANGER)
    lab.endpoint("https://evil.localhost/1", bus=STRANGER)
    lab.send("Unregistered", bus=STRANGER)
    # An honest message behind them shows that all were read.
    honest = looks()
    time.sleep(1)
    lab.message(encrypted(key))
    time.sleep(2)
    check("150 messages of strangers, 50 with a wrong token, 10 MB, another sender: one look besides the honest", looks() in (honest + 1, 4), str(looks()))
    check("another sender changes nothing", node() == key and len(stored()) == 1)
    pid = connectors()
    if pid:
        memory = [line for line in open(f"/proc/{pid[0]}/status") if line.startswith(("VmHWM", "VmRSS"))]
        print("        the connector: " + " ".join(" ".join(line.split()) for line in memory))
    check("the connector ends without calls", until(lambda: not connectors(), 15))


def forms(lab):
    """Calls of another form than the specification's, from the distributor itself."""
    lab.message(encrypted(node()))
    until(connectors)
    before, pid, seen = node(), connectors(), looks()
    deep = GLib.Variant("s", lab.token)
    for _ in range(30):
        deep = GLib.Variant("v", deep)
    text, token = GLib.Variant("s", "x"), GLib.Variant("s", lab.token)
    dictionaries = [{}, {"token": GLib.Variant("i", 1)}, {"token": deep}, {"token": token}, {"token": token, "message": text, "endpoint": GLib.Variant("ay", b"x")},
                    {"token": token, "message": GLib.Variant("as", ["x"]), "endpoint": GLib.Variant("a{sv}", {"x": text})}, {"": text, "token": text}]
    bodies = [None, GLib.Variant("(i)", (1,)), GLib.Variant("(s)", (lab.token,)), GLib.Variant("(sss)", (lab.token, "", "")), GLib.Variant("(say)", ("", b"")),
              GLib.Variant("(aa{sv})", ([{}],)), GLib.Variant("(a{ss})", ({"token": lab.token},))] + [GLib.Variant("(a{sv})", (fields,)) for fields in dictionaries]
    for interface in ("org.unifiedpush.Connector2", "org.unifiedpush.Connector1", "org.unifiedpush.Connector3", None):
        for member in ("Message", "NewEndpoint", "Other"):
            for body in bodies:
                for path in ("/org/unifiedpush/Connector", "/"):
                    call = Gio.DBusMessage.new_method_call(lab.service, path, interface, member)
                    if body:
                        call.set_body(body)
                    lab.bus.send_message(call, Gio.DBusSendMessageFlags.NONE)
    time.sleep(1)
    check("336 calls of other forms change nothing", connectors() == pid and node() == before and looks() <= seen + 1, f"{connectors()} {pid} {looks()} {seen}")
    seen = looks()
    lab.message(encrypted(before))
    check("and the same process hears the next message", until(lambda: looks() > seen) and connectors() == pid)


def renewals(lab):
    command = open(services()[0]).read().split("Exec=")[1].strip()
    lost = []
    for number in range(KILLS):
        newest = f"https://push.localhost/kill-{number}"
        lab.answer = serving([newest])
        lab.endpoint(newest)
        # From before the start of the connector to the end of its session.
        time.sleep(random.random() ** 2 * 0.8)
        for pid in connectors():
            os.kill(pid, signal.SIGKILL)
        # As the next login does.
        login = subprocess.Popen(["sh", "-c", "exec " + command], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
        if not until(lambda: (node() or "").startswith(newest + "#"), 15):
            lost.append(number)
        login.kill()
        login.wait()
    check(f"{KILLS} renewals with kills: the newest endpoint is enabled after a login", not lost, str(lost))
    check("and one registration", len(stored()) == 1 and len({request["token"] for request in lab.requests}) == 1)


def endings(lab):
    lab.send("Unregistered")
    check("ended by the distributor: push is off", until(lambda: node() is None and not stored()))
    register("--distributor", "lab")
    check("registered anew", node() is not None)
    kalij("push", "disable")
    former = lab.token
    lab.message(encrypted("https://push.localhost/1#p256dh=%s;auth=%s" % (stored()[0]["publicKey"], stored()[0]["secret"])))
    check("after `push disable` a message ends the registration", until(lambda: former in lab.ended and not stored()))
    register("--distributor", "lab")
    done = kalij("push", "unifiedpush", "--off")
    check("--off: ended everywhere", done.returncode == 0 and until(lambda: lab.token in lab.ended) and not stored() and node() is None and not services(), done.stderr.strip())
    lab.close()
    old = Distributor("old", lambda request: ("NEW_ENDPOINT", "", ["https://push.localhost/old"]), version=1)
    done = register("--distributor", "old")
    before = looks()
    old.message(encrypted(node() or "#p256dh=;auth="))
    check("version 1: registered, and a message is a look", done.returncode == 0 and until(lambda: looks() == before + 1), done.stderr.strip())
    return old


def main():
    global VAPID, STRANGER
    for name in ("/data", "/config"):
        os.makedirs(HOME + name)
    point = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    VAPID = base64.urlsafe_b64encode(point).rstrip(b"=").decode()
    done = kalij("push", "unifiedpush", "component.localhost")
    check("no bus: 69", done.returncode == 69, done.stderr.strip())
    bus = start_bus()
    threading.Thread(target=GLib.MainLoop().run, daemon=True).start()
    STRANGER = Gio.DBusConnection.new_for_address_sync(
        BUS, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
    try:
        waiting, silent = refusals()
        lab = registration()
        messages(lab)
        forms(lab)
        renewals(lab)
        old = endings(lab)
        errors = waiting.communicate(timeout=40)[1]
        check("a distributor that never answers: 69 after 30 s", waiting.returncode == 69 and "no endpoint within" in errors, errors.strip())
        old.message(b"x")
        until(connectors)
    finally:
        bus.kill()
        bus.wait()
    check("without its bus the connector ends", until(lambda: not connectors(), 10))
    sys.stdout.flush()
    os._exit(bool(failures))


main()
