#!/usr/bin/python3
"""Reads what a client said inside TLS, as Tests/Processes/Links/FlightLog.swift records it, and prints a line of JSON about its logins.

  flights.py LOG                   "logins": how many began, by mechanism; "tokens": how many the server has given; "counted": by how
                                   many counts the tokens were used; "twice": token and count pairs that left more than once; "unknown":
                                   logins by a token whose proof no token gives that the server had given before; "passwords": logins
                                   that say a password; "connections": streams inside TLS; "last": the last mechanism
  flights.py LOG replay HOST:PORT direct|starttls
                                   says the last login by a token once more on a new TLS connection: "answer"

A record is a line "WAY PROCESS CONNECTION BYTES EXPORTER\\n" and the bytes; EXPORTER is tls-exporter's data in hexadecimal digits.
"""
import base64, hashlib, hmac, json, re, socket, ssl, sys, time


def records(path):
    data = open(path, "rb").read()
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        way, process, connection, count, exporter = data[at:end].decode().split(" ")
        yield way, (process, connection), bytes.fromhex(exporter), data[end + 1:end + 1 + int(count)]
        at = end + 1 + int(count)


LOGIN = re.compile(r"<auth(?:enticate)? [^>]*mechanism='([^']+)'[^>]*>(?:<initial-response>)?([^<]*)(.*)", re.S)
TOKEN = re.compile(r"""<token [^>]*token=['"]([^'"]+)['"]""")


def read(path):
    logins, tokens, rest, streams = [], [], {}, 0
    for way, connection, exporter, data in records(path):
        text = data.decode(errors="replace")
        if way == "down":
            # A token may be cut in two by the server's writes.
            rest[connection] = (rest.get(connection, "") + text)[-100_000:]
            tokens += [token for token in TOKEN.findall(rest[connection]) if token not in tokens]
            continue
        streams += "<stream:stream" in text
        if found := LOGIN.search(text):
            mechanism, message, more = found.groups()
            login = {"mechanism": mechanism, "data": data, "token": None, "count": None}
            if mechanism.startswith("HT-"):
                proof = base64.b64decode(message).split(b"\0", 1)[1]
                count = re.search(r"count='(\d+)'", more)
                login["count"] = int(count.group(1)) if count else None
                for index, token in enumerate(tokens):
                    if hmac.digest(token.encode(), b"Initiator" + exporter, hashlib.sha256) == proof:
                        login["token"] = index
            logins.append(login)
    return logins, tokens, streams


def report(path):
    logins, tokens, streams = read(path)
    used, twice, names = set(), [], {}
    for login in logins:
        names[login["mechanism"]] = names.get(login["mechanism"], 0) + 1
        if login["mechanism"].startswith("HT-"):
            pair = (login["token"], login["count"])
            if pair in used:
                twice.append(pair)
            used.add(pair)
    print(json.dumps({
        "logins": names, "tokens": len(tokens), "counted": len(used), "twice": twice,
        "unknown": sum(login["mechanism"].startswith("HT-") and login["token"] is None for login in logins),
        "passwords": names.get("PLAIN", 0), "used": len({token for token, _ in used}),
        "connections": streams, "last": logins[-1]["mechanism"] if logins else ""}))


def replay(path, target, how):
    data = [login for login in read(path)[0] if login["mechanism"].startswith("HT-")][-1]["data"]
    host, port = target.split(":")
    plain = socket.create_connection((host, int(port)), timeout=10)
    plain.settimeout(2)
    if how == "starttls":
        plain.sendall(b"<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' to='localhost' "
                      b"version='1.0'><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        text = b""
        while b"<proceed" not in text:
            text += plain.recv(65536)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = context.wrap_socket(plain, server_hostname="localhost")
    connection.sendall(data)
    answer = b""
    try:
        while b"</failure>" not in answer and b"</success>" not in answer and (more := connection.recv(65536)):
            answer += more
    except OSError:
        pass
    print(json.dumps({"answer": answer.decode(errors="replace")}))


if sys.argv[2:3] == ["replay"]:
    replay(sys.argv[1], *sys.argv[3:])
else:
    report(sys.argv[1])
