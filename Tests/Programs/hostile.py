#!/usr/bin/python3
"""A hostile file server in a network of its own, where the Internet's addresses are this machine's.

  hostile.py FOLDER PORT    prints a line of JSON: the id of a process in the network, and SHA-256 of the files

The network is a namespace with one device, on which public and private addresses are; names are those of FOLDER/hosts, and
nobody answers on DNS. Programs enter with `nsenter --preserve-credentials -U -m -n -t ID`. PORT of 127.0.0.1 leads from there to
the same port outside: the XMPP server. Everything else answers as `files.py` does; FOLDER/connects has a line for each connection,
with the address that was connected to. Ends with its standard input. FOLDER/ca.pem is the authority.
"""
import base64, hashlib, json, os, signal, socket, ssl, subprocess, sys, threading, time, urllib.parse

import files
from files import pattern

FOLDER = sys.argv[1]
PUBLIC = ["20.0.0.1", "2606:aaaa::1"]
# 127.0.0.1 and ::1 are there anyway.
PRIVATE = ["10.0.0.1", "100.64.0.1", "169.254.169.254", "172.16.0.1", "192.168.1.1", "198.18.0.1", "240.0.0.1",
           "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::1", "fd00::1", "2001:db8::1"]
NAMES = {
    "files": ["20.0.0.1"], "six": ["2606:aaaa::1"], "loop": ["127.0.0.1"], "six-loop": ["::1"], "private": ["10.0.0.1"],
    "both": ["10.0.0.1", "127.0.0.1", "20.0.0.1"], "turning": ["20.0.0.1"], "cloud": ["169.254.169.254"],
}
KEY, NONCE = bytes(range(32)), bytes(range(100, 112))
requests = {}


def write_hosts(names):
    with open(f"{FOLDER}/hosts", "w") as hosts:
        hosts.write("127.0.0.1 localhost upload.localhost\n")
        hosts.writelines(f"{address} {name}.hostile.example\n" for name in names for address in names[name])


def seal(plain):
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    return AESGCM(KEY).encrypt(NONCE, plain, None)


def encrypted(kind):
    sealed = seal(pattern(1000))
    return {"good": sealed, "flipped": sealed[:10] + bytes([sealed[10] ^ 1]) + sealed[11:],
            "tag": sealed[:-1] + bytes([sealed[-1] ^ 1]), "cut": sealed[:-1], "short": sealed[:15], "tag-alone": seal(b""),
            "longer": sealed + b"x"}[kind]


def again(client, path, fields):
    """The first answer is cut in the middle; /again/WORD says what the next answers are."""
    requests[path] = requests.get(path, 0) + 1
    word, whole = path.split("/")[2], pattern(40000)
    begin = int(fields.get("range", "bytes=0-")[6:-1])
    tag = 'ETag: "one"\n'
    if requests[path] == 1:
        client.send(f"HTTP/1.1 200 X\nContent-Length: 40000\n{tag}", whole[:20000])
        time.sleep(0.1)
        client.reset()
        return "given up"
    if begin == 0 or word == "whole":
        client.answer(200, whole, tag)
    elif word == "good":
        client.answer(206, whole[begin:], f"Content-Range: bytes {begin}-39999/40000\n{tag}")
    elif word == "changed":
        client.answer(206, bytes(40000 - begin), f'Content-Range: bytes {begin}-39999/40000\nETag: "two"\n')
    elif word == "earlier":
        client.answer(206, whole, f"Content-Range: bytes 0-39999/40000\n{tag}")
    elif word == "later":
        client.answer(206, whole[begin + 1:], f"Content-Range: bytes {begin + 1}-39999/40000\n{tag}")
    elif word == "unranged":
        client.answer(206, whole[begin:], tag)
    elif word == "beyond":
        client.answer(416, b"", "Content-Range: bytes */10\n")
    return "answered"


def get(client, path, fields, port):
    word, _, rest = path[1:].partition("/")
    if word == "to":
        client.answer(302, b"moved", f"Location: {urllib.parse.unquote(rest)}\n")
    elif word == "named":
        client.answer(200, pattern(100))
    elif word == "turn":
        write_hosts({**NAMES, "turning": ["127.0.0.1"]})
        client.answer(302, b"", "Location: /file/100\n")
    elif word == "gcm":
        client.answer(200, encrypted(rest))
    elif word == "again":
        return again(client, path, fields)
    elif word == "status":
        client.answer(int(rest), b"no")
    elif word == "says":
        client.send(f"HTTP/1.1 200 X\nContent-Length: {rest}\n", pattern(100))
    elif word == "cookie":
        client.answer(302, b"", "Set-Cookie: a=b\nLocation: /named/cookie\n")
    elif word == "half-zip":
        client.answer(200, pattern(100), "Content-Encoding: identity, gzip\n")
    else:
        return usual(client, path, fields, port)
    return "answered"


usual, files.get = files.get, get


def accept(listener, context):
    while True:
        connection, peer = listener.accept()
        address = connection.getsockname()[0]
        with files.LOCK, open(f"{FOLDER}/connects", "a") as log:
            log.write(f"{address.removeprefix('::ffff:')} {listener.getsockname()[1]}\n")
        threading.Thread(target=files.serve, args=(connection, context, 443), daemon=True).start()


def certificate():
    names = [f"DNS:{name}.hostile.example" for name in NAMES] + ["DNS:localhost"]
    names += [f"IP:{address}" for address in PUBLIC + PRIVATE + ["127.0.0.1", "::1"]]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
         "-subj", "/CN=hostile.example", "-addext", "subjectAltName=" + ",".join(names), "-keyout", f"{FOLDER}/key.pem",
         "-out", f"{FOLDER}/ca.pem"], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sslsocket_class = files.Socket
    context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
    context.load_cert_chain(f"{FOLDER}/ca.pem", f"{FOLDER}/key.pem")
    return context


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def relay(listener, connect):
    while True:
        near, _ = listener.accept()
        far = connect()
        for pair in ((near, far), (far, near)):
            threading.Thread(target=pump, args=pair, daemon=True).start()


def connected(family, address):
    connection = socket.socket(family)
    connection.connect(address)
    return connection


def inside(port):
    """Runs in the namespaces."""
    write_hosts(NAMES)
    open(f"{FOLDER}/resolv.conf", "w").write("nameserver 127.0.0.1\noptions attempts:1 timeout:1\n")
    for command in (["mount", "--bind", f"{FOLDER}/hosts", "/etc/hosts"],
                    ["mount", "--bind", f"{FOLDER}/resolv.conf", "/etc/resolv.conf"], ["ip", "link", "set", "lo", "up"]):
        subprocess.run(command, check=True)
    for address in PUBLIC + PRIVATE:
        bits = 128 if ":" in address else 32
        subprocess.run(["ip", "addr", "add", f"{address}/{bits}", "dev", "lo"] + ["nodad"] * (bits == 128), check=True)
    context = certificate()
    for name in ("log", "connects"):
        open(f"{FOLDER}/{name}", "w").close()
    for number in (443, 80, 8443):
        listener = socket.create_server(("::", number), family=socket.AF_INET6, dualstack_ipv6=True, backlog=64)
        threading.Thread(target=accept, args=(listener, context), daemon=True).start()
    near = socket.create_server(("127.0.0.1", port), backlog=64)
    threading.Thread(target=relay, args=(near, lambda: connected(socket.AF_UNIX, f"{FOLDER}/relay")), daemon=True).start()
    sums = {count: base64.b64encode(hashlib.sha256(pattern(count)).digest()).decode() for count in (100, 1000, 40000)}
    print(json.dumps({"pid": os.getpid(), "sums": sums, "key": (NONCE + KEY).hex()}), flush=True)
    sys.stdin.read()


def outside(port):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{FOLDER}/relay")
    listener.listen(64)
    threading.Thread(
        target=relay, args=(listener, lambda: connected(socket.AF_INET, ("127.0.0.1", port))), daemon=True).start()
    # Ends with this program's input, which it shares.
    subprocess.run(["unshare", "-rmn", "--propagation", "private", sys.executable, __file__, FOLDER, str(port), "inside"])


if len(sys.argv) > 3:
    inside(int(sys.argv[2]))
else:
    outside(int(sys.argv[2]))
