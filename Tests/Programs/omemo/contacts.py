#!/usr/bin/python3
"""Makes accounts contacts of each other, both ways: contacts.py PORT CA USER...

The accounts are of localhost; the password comes from PEER_PASSWORD.

Some clients publish their keys for contacts only, and tell only contacts of changes.
"""
import asyncio
import os
import sys

import slixmpp

port, authority, users = int(sys.argv[1]), sys.argv[2], sys.argv[3:]


async def main():
    clients, ready = {}, []
    for user in users:
        client = slixmpp.ClientXMPP(user + "@localhost/contacts", os.environ["PEER_PASSWORD"])
        client.ca_certs = authority
        client.auto_authorize = client.auto_subscribe = True
        begun = asyncio.get_running_loop().create_future()

        async def start(_, client=client, begun=begun):
            await client.get_roster()
            client.send_presence()
            begun.set_result(None)

        client.add_event_handler("session_start", start)
        client.connect(("127.0.0.1", port))
        clients[user + "@localhost"] = client
        ready.append(begun)
    await asyncio.wait_for(asyncio.gather(*ready), 60)
    for jid, client in clients.items():
        for other in clients:
            if other != jid:
                client.send_presence_subscription(pto=other)
    missing = None
    for _ in range(600):
        missing = [(jid, other) for jid, client in clients.items() for other in clients if other != jid
                   and client.client_roster[other]["subscription"] != "both"]
        if not missing:
            break
        await asyncio.sleep(0.1)
    for client in clients.values():
        client.abort()
    return missing

left = asyncio.new_event_loop()
asyncio.set_event_loop(left)
missing = left.run_until_complete(main())
if missing:
    sys.exit("waited 60 s for these to be contacts: %r" % missing)
os._exit(0)
