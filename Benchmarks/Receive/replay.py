"""The means to replay a recorded stream, for benchmarks: a port, a certificate, the recording, the bare SQLite
program."""
import os, socket, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTED = os.path.join(HERE, "../../Sources/KalijLab/Resources/scripted.py")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def prepare(folder, messages, *options):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost", "-keyout", folder + "/key.pem", "-out", folder + "/cert.pem"],
        check=True, stderr=subprocess.DEVNULL)
    with open(folder + "/recording.xml", "wb") as recording:
        subprocess.run([sys.executable, HERE + "/recording.py", str(messages), *options], check=True, stdout=recording)
    subprocess.run(["cc", "-O2", "-o", folder + "/bare", HERE + "/bare.c", "-lsqlite3"], check=True)
