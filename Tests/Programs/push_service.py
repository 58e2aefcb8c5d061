#!/usr/bin/env python3
"""A push service and a device by other people's libraries: PyPI's http-ece decrypts, py-vapid verifies.

  python3 -m venv V && V/bin/pip install http-ece py-vapid
  V/bin/python push_service.py KALIJ-PUSH FOLDER COUNT       exit code 1 unless all pushes were decrypted and verified

KALIJ-PUSH sends COUNT pushes (`check --push`) to a service with HTTP/1.1, each to a device with new keys. No part of `make test`: Debian 12 has
neither library.
"""
import base64, json, os, ssl, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import http_ece
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02

PUSH, FOLDER, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
received = []


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        received.append((self.path, dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(201)
        self.send_header("location", "https://push.localhost/m/1")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def point(key):
    return key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


os.makedirs(FOLDER, exist_ok=True)
subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=push.localhost",
                "-addext", "subjectAltName=DNS:push.localhost", "-keyout", f"{FOLDER}/key.pem", "-out", f"{FOLDER}/ca.pem"], check=True, stderr=subprocess.DEVNULL)
server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(f"{FOLDER}/ca.pem", f"{FOLDER}/key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
port = server.server_address[1]
key = subprocess.run([PUSH, "webpush-key", f"{FOLDER}/web.pem"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
json.dump({
    "component": {"componentHostname": "push.example", "componentKey": "k", "serverHostname": "127.0.0.1", "serverPort": 1},
    "pushModules": {"web": {"type": "webpush", "is_default_module": True, "webpush": {
        "keyFilePath": "web.pem", "contact": "mailto:ops@example.org",
        "ownServices": [{"host": "push.localhost", "port": port, "address": "127.0.0.1", "caFile": "ca.pem"}]}}}}, open(f"{FOLDER}/settings.json", "w"))
good = 0
for number in range(COUNT):
    device, secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
    node = f"https://push.localhost:{port}/p/{number}#p256dh={encoded(point(device))};auth={encoded(secret)}"
    done = subprocess.run([PUSH, "check", f"{FOLDER}/settings.json", "--push", node], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if len(received) != number + 1:
        sys.exit(f"no push: {done.stdout} {done.stderr}")
    path, fields, body = received[-1]
    fields = {name.lower(): value for name, value in fields.items()}
    text = http_ece.decrypt(body, private_key=device, auth_secret=secret, version="aes128gcm")
    token = fields["authorization"].removeprefix("vapid t=").split(",")[0]
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    good += (done.returncode == 0 and "the push was taken" in done.stdout and path == f"/p/{number}" and text == b"look" and len(body) == 128
             and Vapid02.verify(fields["authorization"]) and fields["authorization"].endswith(",k=" + key)
             and claims["aud"] == f"https://push.localhost:{port}" and time.time() < claims["exp"] <= time.time() + 86400)
print(f"{good} of {COUNT} pushes were decrypted by http-ece and verified by py-vapid")
sys.exit(good != COUNT)
