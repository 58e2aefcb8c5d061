#!/usr/bin/python3
"""A file server over TLS for the tests of transfers, whose paths say how it behaves.

  files.py FOLDER       makes a certificate for localhost in FOLDER; prints a TLS port and a port that never speaks

Ends with its standard input. FOLDER/log has a line of JSON for each connection ("accepted") and each request, with the
bytes of the body, their SHA-256 and how the client's side ended.
"""
import array, hashlib, json, os, socket, ssl, struct, subprocess, sys, threading, time

FOLDER = sys.argv[1]
LOCK = threading.Lock()


def log(**record):
    with LOCK, open(f"{FOLDER}/log", "a") as file:
        file.write(json.dumps(record) + "\n")


def pattern(count, offset=0):
    """The bytes of every file: each 4 bytes are a number."""
    numbers = array.array("I", range(offset // 4, (offset + count + 3) // 4))
    numbers.byteswap()
    return numbers.tobytes()[offset % 4:][:count]


def is_reset(connection):
    """Python's ssl reports a reset as any other end; the kernel has ended the connection then (TCP_CLOSE)."""
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == 7


class Client:
    def __init__(self, connection):
        self.connection, self.rest, self.sum, self.got = connection, b"", hashlib.sha256(), 0

    def head(self):
        while b"\r\n\r\n" not in self.rest:
            more = self.connection.recv(65536)
            if not more:
                return None
            self.rest += more
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        fields = dict((name.lower(), value.strip()) for name, value in (line.split(":", 1) for line in lines[1:]))
        return lines[0].split(" ")[:2] + [fields]

    def read(self, count):
        """Reads so many bytes of the body; how it ended: complete, closed (by TLS), truncated, reset."""
        try:
            while count > 0:
                data, self.rest = (self.rest or self.connection.recv(min(count, 65536))), b""
                if not data:
                    return "reset" if is_reset(self.connection) else "closed"
                self.sum.update(data)
                self.got += len(data)
                count -= len(data)
            return "complete"
        except ssl.SSLEOFError:
            return "reset" if is_reset(self.connection) else "truncated"
        except OSError as error:
            return "reset" if is_reset(self.connection) else type(error).__name__

    def send(self, text, body=b""):
        self.connection.sendall(text.encode("latin-1").replace(b"\n", b"\r\n") + b"\r\n" + body)

    def answer(self, status, body=b"", fields=""):
        self.send(f"HTTP/1.1 {status} X\nContent-Length: {len(body)}\nConnection: close\n{fields}", body)

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.detach_and_close()

    def wait(self):
        """Waits for the client's end."""
        return self.read(1 << 40)


class Socket(ssl.SSLSocket):
    def detach_and_close(self):
        os.close(self.detach())


def put(client, path, length):
    if path == "/put-refused":
        client.answer(403, b"no")
        return "refused"
    if path == "/put-too-large":
        client.read(1 << 20)
        client.answer(413, b"no")
        return "refused"
    if path == "/put-half":
        client.read(length // 2)
        client.reset()
        return "given up"
    if path == "/put-early":
        client.send("HTTP/1.1 201 X\nContent-Length: 0\n")
        return client.read(length)
    if path == "/put-unread":
        time.sleep(8)
        return client.wait()
    if path == "/put-informed":
        client.send("HTTP/1.1 100 Continue\n")
        client.send("HTTP/1.1 103 Early Hints\nLink: x\n")
    end = client.read(length)
    if end == "complete" and path == "/put-busy":
        client.answer(503, b"", "Retry-After: 7\n")
    elif end == "complete" and path == "/put-unanswered":
        return client.wait()
    elif end == "complete":
        client.answer(201)
    return end


def get(client, path, fields, port):
    word, _, number = path[1:].partition("/")
    number = int(number or 0)
    if word == "file":
        begin = int(fields.get("range", "bytes=0-")[6:-1])
        if begin and fields.get("if-range", '"one"') == '"one"':
            client.answer(206, pattern(number - begin, begin),
                          f'Content-Range: bytes {begin}-{number - 1}/{number}\nETag: "one"\n')
        else:
            client.answer(200, pattern(number), 'ETag: "one"\nLast-Modified: Tue, 24 Nov 2026 08:00:00 GMT\n')
    elif word == "zeros":
        client.send(f"HTTP/1.1 200 X\nContent-Length: {number}\n")
        for _ in range(number // 65536):
            client.connection.sendall(bytes(65536))
    elif word == "huge-head":
        client.connection.sendall(b"HTTP/1.1 200 X\r\n" + (b"X-Filler: " + b"y" * 1000 + b"\r\n") * 10000 + b"\r\n")
    elif word == "endless-hints":
        for _ in range(100000):
            client.send("HTTP/1.1 103 Early Hints\nLink: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n")
    elif word == "no-length":
        client.send("HTTP/1.1 200 X\nConnection: close\n", pattern(5000))
    elif word == "short":
        client.send("HTTP/1.1 200 X\nContent-Length: 1000\n", pattern(500))
    elif word == "long":
        client.send("HTTP/1.1 200 X\nContent-Length: 500\n", pattern(1000))
    elif word == "trickle":
        client.send("HTTP/1.1 200 X\nContent-Length: 1000\n")
        for _ in range(40):
            client.connection.sendall(b"x")
            time.sleep(0.2)
    elif word == "wrong-range":
        client.answer(206, pattern(100), "Content-Range: bytes 0-99/200\n")
    elif word == "gzip":
        client.answer(200, b"\x1f\x8b" + bytes(98), "Content-Encoding: gzip\n")
    elif word == "coded":
        client.send("HTTP/1.1 200 X\nTransfer-Encoding: gzip, chunked\n", b"2\r\n\x1f\x8b\r\n0\r\n\r\n")
    elif word == "chunked":
        client.send("HTTP/1.1 200 X\nTransfer-Encoding: chunked\n", b"3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: y\r\n\r\n")
    elif word == "two-lengths":
        client.send("HTTP/1.1 200 X\nContent-Length: 5\nContent-Length: 6\n", b"abcdef")
    elif word == "missing":
        client.answer(404, b"x" * 100000)
    elif word == "endless-error":
        client.send("HTTP/1.1 404 X\n")
        while True:
            client.connection.sendall(bytes(65536))
    elif word == "silent":
        return client.wait()
    elif word == "cut-head":
        client.connection.sendall(b"HTTP/1.1 200 X\r\nContent-Le")
    elif word == "garbage":
        client.connection.sendall(b"\x00\x01\x02 garbage\r\n\r\n" * 10)
    elif word == "redirect":
        to = f"/redirect/{number - 1}" if number > 1 else "../file/10"
        client.answer((301, 302, 303, 307, 308)[number % 5], b"moved", f"Location: {to}\n")
    elif word == "loop":
        client.answer(302, b"", f"Location: /loop\n")
    elif word == "to-http":
        client.answer(302, b"", f"Location: http://localhost:{port}/file/10\n")
    elif word == "to-address":
        client.answer(302, b"", f"Location: https://127.0.0.1:{port}/file/10\n")
    elif word == "to-nowhere":
        client.answer(302)
    else:
        client.answer(404)
    return "answered"


def serve(connection, context, port):
    client = method = path = None
    end = "no handshake"
    try:
        connection.settimeout(20)
        # Otherwise an answer may still wait when the connection is closed, and not leave at all.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client = Client(context.wrap_socket(connection, server_side=True, suppress_ragged_eofs=False))
        end = "no request"
        request = client.head()
        if request:
            method, path, fields = request
            if method == "PUT":
                end = put(client, path, int(fields["content-length"]))
            elif method == "HEAD":
                client.send(f"HTTP/1.1 200 X\nContent-Length: {path.split('/')[-1]}\n")
                end = "answered"
            else:
                end = get(client, path, fields, port)
            log(path=path, method=method, fields=fields, got=client.got, sha256=client.sum.hexdigest(), end=end)
    except OSError as error:
        log(path=path, method=method, got=client.got if client else 0,
            end="reset" if client and is_reset(client.connection) else type(error).__name__)
    finally:
        if client:
            try:
                client.connection.settimeout(1)
                if end != "given up":
                    client.connection.unwrap()
            except OSError:
                pass
            try:
                client.connection.close()
            except OSError:
                pass
        connection.close()


def accept(listener, context, port):
    while True:
        connection, _ = listener.accept()
        log(accepted=True)
        threading.Thread(target=serve, args=(connection, context, port), daemon=True).start()


def main():
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
         f"{FOLDER}/key.pem", "-out", f"{FOLDER}/ca.pem"], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sslsocket_class = Socket
    context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
    context.load_cert_chain(f"{FOLDER}/ca.pem", f"{FOLDER}/key.pem")
    open(f"{FOLDER}/log", "w").close()
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    mute = socket.create_server(("127.0.0.1", 0), backlog=64)
    port = listener.getsockname()[1]
    threading.Thread(target=accept, args=(listener, context, port), daemon=True).start()
    print(f"{port} {mute.getsockname()[1]}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
