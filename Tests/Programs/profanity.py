#!/usr/bin/python3
"""Runs profanity, a client for terminals, in a terminal of its own: each line of standard input is typed; at the end of input the
client quits.

profanity.py FOLDER JID PORT CA

FOLDER holds all files of the client: data/profanity/database/... has the messages, log all that was sent and received. CA is the
file of the authority to trust. The password comes from PROFANITY_PASSWORD. Loopback only.
"""
import os
import shutil
import subprocess
import sys

import terminal

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
receipts.request=true
receipts.send=true
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

terminal.run(
    ["profanity", "-l", "DEBUG", "-f", folder + "/log", "-a", jid],
    {"HOME": folder, "XDG_CONFIG_HOME": folder + "/config", "XDG_DATA_HOME": folder + "/data"}, folder + "/screen")
