#!/usr/bin/python3
"""Stands between a client and a real server, and stalls at a chosen point: from then on the client gets nothing more,
while its connection stays open.

usage: stalling.py --port N --cert FILE --key FILE --server PORT POINT

The client comes with STARTTLS; the server is connected over direct TLS. POINT is one of
  greeting         a connection is taken, and nothing said
  features         the stream is opened, without features
  proceed          STARTTLS is not answered
  handshake        STARTTLS is agreed to, and the handshake not begun
  mechanisms       on the secured stream, no features
  challenge, success, session-features, resumed, bound, enabled
                   the server's next element in the negotiation
  page             in the middle of the first page of an archive
  stanza           in the middle of the first message
  acknowledgement  acknowledgements are not passed on, everything else is
Prints "ready" when listening, and "stalled" when stalled.
"""
import argparse, re, select, socket, ssl, sys, threading, time

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--cert", required=True)
parser.add_argument("--key", required=True)
parser.add_argument("--server", type=int, required=True)
parser.add_argument("point")
options = parser.parse_args()

HEADER = (b"<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' "
          b"from='localhost' id='stalling' version='1.0'>")
# Data not passed on, with everything after; the beginning of a page and a stanza is passed on.
LAST = {
    "mechanisms": rb"<stream:features", "challenge": rb"<challenge", "success": rb"<success",
    "session-features": rb"<stream:features[^>]*>(?!<mechanisms|<register)(?=.*urn:ietf:params:xml:ns:xmpp-bind)",
    "resumed": rb"<resumed", "bound": rb"<iq [^>]*(?=[^>]*>\s*<bind)", "enabled": rb"<enabled",
    "page": rb"<forwarded", "stanza": rb"<message[^>]*>",
}
ACKNOWLEDGEMENT = re.compile(rb"<a [^>]*/>|<a [^>]*></a>")


def stall():
    print("stalled", flush=True)
    time.sleep(600)


def until(connection, pattern):
    seen = b""
    while not re.search(pattern, seen):
        piece = connection.recv(4096)
        if not piece:
            raise OSError("the client is gone")
        seen += piece


def secure(client):
    """STARTTLS, up to the handshake."""
    if options.point == "greeting":
        stall()
    until(client, rb"<stream:stream[^>]*>")
    client.sendall(HEADER)
    if options.point == "features":
        stall()
    client.sendall(b"<stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls>"
                   b"</stream:features>")
    until(client, rb"<starttls")
    if options.point == "proceed":
        stall()
    client.sendall(b"<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
    if options.point == "handshake":
        stall()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.cert, options.key)
    return context.wrap_socket(client, server_side=True)


def reach():
    context = ssl.create_default_context(cafile=options.cert)
    return context.wrap_socket(socket.create_connection(("127.0.0.1", options.server)), server_hostname="localhost")


def passed_on(data):
    """The part of the server's data for the client, and whether it is the last."""
    if options.point == "acknowledgement":
        return ACKNOWLEDGEMENT.sub(b"", data), False
    match = re.search(LAST[options.point], data, re.S)
    if not match:
        return data, False
    keep = match.end() if options.point in ("page", "stanza") else match.start()
    return data[:keep], True


def serve(plain):
    client = secure(plain)
    server = reach()
    while True:
        ready, _, _ = select.select([client, server], [], [], 600)
        for side in ready:
            data = side.recv(65536)
            while side.pending():
                data += side.recv(65536)
            if not data:
                raise OSError("an end")
            if side is client:
                server.sendall(data)
                continue
            data, is_last = passed_on(data)
            if data:
                client.sendall(data)
            if is_last:
                stall()


def attempt(plain):
    try:
        serve(plain)
    except (OSError, ssl.SSLError) as error:
        print(error, file=sys.stderr, flush=True)


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", options.port))
listener.listen(8)
print("ready", flush=True)
while True:
    threading.Thread(target=attempt, args=(listener.accept()[0],), daemon=True).start()
