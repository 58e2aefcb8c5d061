"""A network of its own for a client with windows, in which a server on any loopback port is "localhost:5222".

enter() moves this process (and what it starts later) into new network and mount namespaces. There, 127.0.0.1:5222 leads
to the server's port outside; dnsmasq answers SRV requests; the server's certificate is trusted (a file is bound over
the system's list of authorities). Nothing else is reachable. Needs root or unprivileged user namespaces, dnsmasq-base,
iproute2, mount. The rest are the tools that the clients share: Xvfb, xdotool, reading SQLite, JSON lines.
"""
import ctypes
import json
import os
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

# All waits are so many times longer, because the processors may be shared.
PATIENCE = float(os.environ.get("PATIENCE", "3"))
NEW_NETWORK, NEW_MOUNTS, NEW_USER = 0x40000000, 0x00020000, 0x10000000


def say(event, **fields):
    sys.stdout.write(json.dumps({"event": event, **fields}, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def wait(seconds, what, ready, pause=0.2):
    """Waits until ready() gives something true, and gives it back."""
    end = time.monotonic() + seconds * PATIENCE
    while True:
        found = ready()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError("waited %d s for %s" % (seconds * PATIENCE, what))
        time.sleep(pause)


def with_us():
    """Runs in a child before its program: it is killed when we are gone, even if we are killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def bookmark(options, password):
    """Bookmarks the rooms for the account; before enter()."""
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(
        ["/usr/bin/python3", here + "/bookmarks.py", options.jid, str(options.port), options.ca, *options.room],
        check=True, env={**os.environ, "PEER_PASSWORD": password}, timeout=120 * PATIENCE, stdin=subprocess.DEVNULL)


def relay(ports, owner):
    """Leads each connection to the server's port for its listener, until the owner's end of the socket is closed."""
    def pump(one, other):
        try:
            while True:
                data = one.recv(65536)
                if not data:
                    break
                other.sendall(data)
        except OSError:  # either side has gone
            pass
        for each in (one, other):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    while True:
        ready, _, _ = select.select([*ports, owner], [], [])
        if owner in ready:
            return
        near, _ = ready[0].accept()
        try:
            far = socket.create_connection(("127.0.0.1", ports[ready[0]]), timeout=10)
        except OSError:
            near.close()
            continue
        far.settimeout(None)
        for pair in ((near, far), (far, near)):
            threading.Thread(target=pump, args=pair, daemon=True).start()


def enter(port, authority, folder, https=None):
    """Moves this process into the sandbox. Gives the processes to end at last.

    https is the port of the upload service, which has the same number inside.
    """
    inside, outside = socket.socketpair()
    helper = os.fork()
    if helper == 0:
        status = 1
        try:
            inside.close()
            _, descriptors, _, _ = socket.recv_fds(outside, 1, 2)
            if descriptors:
                relay({socket.socket(fileno=one): far for one, far in zip(descriptors, (port, https))}, outside)
            status = 0
        finally:
            os._exit(status)
    outside.close()
    library = ctypes.CDLL(None, use_errno=True)
    root, user, group = os.geteuid() == 0, os.getuid(), os.getgid()
    if library.unshare(NEW_NETWORK | NEW_MOUNTS | (0 if root else NEW_USER)) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    if not root:
        for name, text in (("setgroups", "deny"), ("uid_map", "0 %d 1" % user), ("gid_map", "0 %d 1" % group)):
            with open("/proc/self/" + name, "w", encoding="ascii") as file:
                file.write(text)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=10)
    subprocess.run(["mount", "--make-rprivate", "/"], check=True, timeout=10)
    with open(folder + "/resolv.conf", "w", encoding="ascii") as file:
        file.write("nameserver 127.0.0.1\n")
    subprocess.run(["mount", "--bind", folder + "/resolv.conf", os.path.realpath("/etc/resolv.conf")],
                   check=True, timeout=10)
    subprocess.run(["mount", "--bind", authority, "/etc/ssl/certs/ca-certificates.crt"], check=True, timeout=10)
    listeners = []
    for near in (5222, *([https] if https else [])):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", near))
        listener.listen(16)
        listeners.append(listener)
    socket.send_fds(inside, [b"l"], [listener.fileno() for listener in listeners])
    for listener in listeners:
        listener.close()
    names = subprocess.Popen([
        "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root",
        "--pid-file=", "--listen-address=127.0.0.1", "--bind-interfaces", "--address=/localhost/127.0.0.1",
        "--srv-host=_xmpp-client._tcp.localhost,localhost,5222"], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=with_us)
    enter.held = inside  # its end ends the relay
    return [names]


def display(folder):
    """Starts Xvfb on a free display. Gives the process and the display's name."""
    reading, writing = os.pipe()
    with open(folder + "/xvfb", "ab") as log:
        process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1200x900x24", "-nolisten", "tcp", "-noreset"],
            pass_fds=[writing], stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=with_us)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], 20 * PATIENCE)
    if not ready:
        raise TimeoutError("waited %d s for Xvfb" % (20 * PATIENCE))
    number = b""
    while not number.endswith(b"\n"):
        part = os.read(reading, 20)
        if not part:
            raise OSError("Xvfb has ended: see %s/xvfb" % folder)
        number += part
    os.close(reading)
    return process, ":" + number.decode().strip()


def tool(screen, *arguments, seconds=10):
    """xdotool; gives what it prints."""
    answer = subprocess.run(["xdotool", *arguments], env={**os.environ, "DISPLAY": screen}, timeout=seconds * PATIENCE,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return answer.stdout.decode()


def rows(path, statement, *values):
    """Reads from a client's database while the client uses it."""
    if not os.path.exists(path):
        return []
    link = sqlite3.connect("file:%s?mode=ro" % path, uri=True, timeout=5)
    try:
        return link.execute(statement, values).fetchall()
    except sqlite3.OperationalError:  # not there yet, or busy
        return []
    finally:
        link.close()


class Commands:
    """Lines of JSON on standard input, without waiting."""

    def __init__(self):
        self.begun, self.ended, self.found = b"", False, []

    def next(self, seconds):
        """The next command, {"do": "quit"} at the end of input, or None."""
        if not self.found and not self.ended:
            ready, _, _ = select.select([0], [], [], seconds)
            if ready:
                given = os.read(0, 65536)
                self.ended = not given
                *lines, self.begun = (self.begun + given).split(b"\n")
                self.found += [json.loads(line) for line in lines if line.strip()]
        if self.found:
            return self.found.pop(0)
        return {"do": "quit"} if self.ended else None


def end(processes):
    """Ends what we started, the newest first. Of a process that leads a group the whole group ends."""
    for process in reversed(processes):
        led = os.getpgid(process.pid) == process.pid if process.poll() is None else False
        for sign, seconds in ((signal.SIGTERM, 8), (signal.SIGKILL, 5)):
            limit = time.monotonic() + seconds
            try:
                os.killpg(process.pid, sign) if led else process.send_signal(sign)
                while time.monotonic() < limit:
                    process.poll()
                    if led:
                        os.killpg(process.pid, 0)
                    elif process.returncode is not None:
                        break
                    time.sleep(0.05)
            except ProcessLookupError:  # nobody is left
                break
            if not led and process.returncode is not None:
                break
        process.poll()
