"""secrets_of.py DIALECT: a conversation's secrets, for the test that looks for them in the memory of the process.

The conversation: a begins and seals 0, 1 and 2; b opens 0 and 2, and answers with 3; a opens 3 and seals 4; b opens 4 and 1.
`direct.py` computes what both sides hold on the way. One JSON object: the seeds and random numbers that the test needs,
and the secrets that stand in no row at the end, by name. All bytes are masked with MASK, so that the test's process never
has what it looks for.
"""
import json
import os
import sys

import direct

MASK = 0xA5


class Recording(direct.Ratchet):
    """Notes root keys, chain keys and message keys."""

    def __init__(self, name, *rest):
        super().__init__(*rest)
        self.name, self.roots = name, []

    def root_step(self):
        chain = super().root_step()
        self.roots.append(self.rk)
        return chain

    @staticmethod
    def chain_step(ck):
        chain, key = direct.Ratchet.chain_step(ck)
        noted["message key"].append(key)
        noted["chain key"] += [ck, chain]
        return chain, key


noted = {"DH result": [], "HKDF": [], "message key": [], "chain key": [], "root key": []}


def noting(function, name):
    def noted_function(*arguments):
        result = function(*arguments)
        noted[name].append(result)
        return result
    return noted_function


def seed():
    while True:
        drawn = os.urandom(32)
        if direct.ed25519_pub(drawn)[31] < 128:
            return drawn


def main():
    dialect = direct.DIALECTS[sys.argv[1]]
    direct.x25519, direct.hkdf = noting(direct.x25519, "DH result"), noting(direct.hkdf, "HKDF")
    seed_a, seed_b = seed(), seed()
    ek, spk, pk = os.urandom(32), os.urandom(32), os.urandom(32)
    draws = [os.urandom(32) for _ in range(4)]    # a, b, a, and b's next, which is not drawn in the test
    key_size = 16 if dialect is direct.Old else 32
    payload_keys = [os.urandom(key_size) for _ in range(5)]
    scalars = [direct.hashlib.sha512(value).digest() for value in (seed_a, seed_b)]
    public = direct.x25519_pub
    sk = direct.x3dh(dialect.x3dh_info, [
        direct.x25519(scalars[0][:32], public(spk)), direct.x25519(ek, public(scalars[1][:32])),
        direct.x25519(ek, public(spk)), direct.x25519(ek, public(pk))])
    send, receive = dialect.ads(direct.ed25519_pub(seed_a), direct.ed25519_pub(seed_b))
    a = Recording("a", dialect, sk, send, receive).start(public(spk), draws[:1])
    b = Recording("b", dialect, sk, receive, send).wait(spk)
    text = bytes(dialect.plaintext_length)
    sealed = [a.send(text)[0] for _ in range(3)]
    b.receive(sealed[0], draws[1:2])
    b.receive(sealed[2], [])
    answer = b.send(text)[0]
    a.receive(answer, draws[2:3])
    last = a.send(text)[0]
    b.receive(last, draws[3:4])
    b.receive(sealed[1], [])
    if dialect is direct.New:
        for key in payload_keys:
            direct.hkdf(key, bytes(32), b"OMEMO Payload", 80)
    noted["root key"] = a.roots + b.roots
    noted["payload key"], noted["drawn key"], noted["hash of the seed"] = payload_keys, [ek, draws[0]], [
        value[32:] for value in scalars]
    # At the end of the test these stand in the sessions. Its b has not drawn its next key, nor stepped there.
    rows = [a.rk, a.cks, a.ckr, a.own, b.rk, b.roots[-2], b.ckr, draws[1]]
    halves = {}
    for name, values in noted.items():
        for value in values:
            parts = [value[start:start + 16] for start in range(0, len(value) - 15, 16)]
            for number, part in enumerate(parts):
                if not any(part in row for row in rows):
                    halves[part] = f"{name}, part {number + 1} of {len(parts)}"

    def masked(value):
        return bytes(byte ^ MASK for byte in value).hex()

    print(json.dumps({
        "seeds": [masked(value) for value in (seed_a, seed_b)], "ephemeral": masked(ek),
        "prekeys": [masked(value) for value in (spk, pk)],
        "draws": [masked(value) for value in draws], "payload_keys": [masked(value) for value in payload_keys],
        "secrets": [{"name": name, "value": masked(value)} for value, name in halves.items()]}))


if __name__ == "__main__":
    main()
