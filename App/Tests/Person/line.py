"""The line between the app and a server: connections to XMPP and those for files pass `Tests/Programs/link.py`, which can be
slow, late, cut and deaf."""
import json
import os
import pathlib
import subprocess
import threading

import person
import server as servers

LINK = pathlib.Path(__file__).resolve().parents[3] / "Tests/Programs/link.py"


class Line:
    def __init__(self):
        self.files_port, self.port = servers.free_port(), servers.free_port()
        # The server names the line's port in the addresses of files.
        os.environ |= {"UPLOAD_PORT": str(self.files_port), "UPLOAD_QUOTA": str(10**12)}
        self.events, self.changed, self.done = [], threading.Condition(), 0

    def begin(self, server):
        ports = [f"{self.files_port}:{server.files_port}", f"{self.port}:{server.port}"]
        self.process = subprocess.Popen(["/usr/bin/python3", str(LINK), *ports], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        threading.Thread(target=self.read, daemon=True).start()
        self.wait(lambda: self.events)

    def read(self):
        for text in self.process.stdout:
            event = json.loads(text)
            with self.changed:
                self.done += event["event"] == "done"
                self.events.append(event)
                self.changed.notify_all()

    def wait(self, look):
        with self.changed:
            if not self.changed.wait_for(look, 20):
                raise person.Lost("the line does not answer")

    def do(self, *commands):
        """Commands of link.py, one after the other; each is taken when this returns."""
        for command in commands:
            wanted = self.done + 1
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            self.wait(lambda: self.done >= wanted)

    def count(self, name):
        return sum(event["event"] == name for event in list(self.events))

    def sent(self):
        """Bytes that the living connections for files have taken from the app."""
        before = len(self.events)
        self.do("count")
        return sum(event["up"] for event in self.events[before:] if event["event"] == "count" and event["link"] == 0)

    def end(self):
        self.process.kill()
        self.process.wait()
