#!/usr/bin/python3
"""Runs profanity, a client for terminals, in a terminal of its own: each line of standard input is typed; at the end of input the
client quits.

profanity.py FOLDER JID PORT CA

FOLDER holds all files of the client: data/profanity/database/... has the messages, log all that was sent and received. CA is the
file of the authority to trust. The password comes from PROFANITY_PASSWORD. Loopback only.
"""
import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import termios
import time

folder, jid, port, authority = sys.argv[1:]
for name in ("config/profanity", "data/profanity", "authorities"):
    os.makedirs(os.path.join(folder, name))
shutil.copy(authority, os.path.join(folder, "authorities", "authority.pem"))
subprocess.run(["openssl", "rehash", os.path.join(folder, "authorities")], check=True)


def write(name, text):
    with open(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(text)


write("config/profanity/profrc", """[ui]
splash=false
[connection]
carbons=true
tls.certpath=%s/authorities
[chatstates]
enabled=false
""" % folder)
write("data/profanity/accounts", """[%(jid)s]
enabled=true
jid=%(jid)s
server=127.0.0.1
port=%(port)s
resource=profanity
password=%(password)s
tls.policy=force
presence.last=online
presence.login=online
priority.online=0
""" % {"jid": jid, "port": port, "password": os.environ.pop("PROFANITY_PASSWORD")})

process, terminal = pty.fork()
if process == 0:
    os.environ.update(HOME=folder, XDG_CONFIG_HOME=folder + "/config", XDG_DATA_HOME=folder + "/data", TERM="xterm", LANG="C.UTF-8")
    os.execvp("profanity", ["profanity", "-l", "DEBUG", "-f", folder + "/log", "-a", jid])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
sources = [terminal, 0]
quit_at = None
with open(folder + "/screen", "wb", buffering=0) as screen:
    while True:
        ready, _, _ = select.select(sources, [], [], 1)
        if terminal in ready:
            try:
                output = os.read(terminal, 65536)
            except OSError:  # the client has ended
                break
            screen.write(output)
        if 0 in ready:
            typed = os.read(0, 65536)
            if not typed:
                sources.remove(0)
                quit_at = time.monotonic()
                typed = b"/quit\n"
            os.write(terminal, typed.replace(b"\n", b"\r"))
        if quit_at is not None and time.monotonic() > quit_at + 5:
            os.kill(process, 9)
_, status = os.waitpid(process, 0)
sys.exit(os.waitstatus_to_exitcode(status))
