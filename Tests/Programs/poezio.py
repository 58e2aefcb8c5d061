#!/usr/bin/python3
"""Runs poezio, a client for terminals, in a terminal of its own: each line of standard input is typed; at the end of input the
client quits.

poezio.py FOLDER JID PORT CA

FOLDER holds all files of the client: logs/ROOM has what was said in a room, debug all that was sent and received. CA is the file
of the authority to trust. The password comes from POEZIO_PASSWORD. Loopback only.
"""
import os
import sys

import terminal

folder, jid, port, authority = sys.argv[1:]
os.makedirs(folder)
with open(os.open(folder + "/poezio.cfg", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
    file.write("""[Poezio]
jid = %(jid)s
password = %(password)s
custom_host = 127.0.0.1
custom_port = %(port)s
ca_cert_path = %(authority)s
log_dir = %(folder)s/logs
auto_reconnect = false
send_chat_states = false
[bindings]
[var]
""" % {"jid": jid, "password": os.environ.pop("POEZIO_PASSWORD"), "port": port, "authority": authority, "folder": folder})
names = {name: "%s/%s" % (folder, name.lower()) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
# poezio refuses to run as root; without a map a user namespace has nobody, who owns the files of whoever made the namespace.
nobody = ["unshare", "--user"] if os.geteuid() == 0 else []
terminal.run(
    nobody + ["poezio", "--file", folder + "/poezio.cfg", "--debug", folder + "/debug"], {"HOME": folder, **names},
    folder + "/screen", pause=0.2)
