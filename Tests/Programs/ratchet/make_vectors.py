"""Writes ratchet-vectors.json: test vectors for X3DH and the Double Ratchet of OMEMO.

Every value is computed with the MIT libraries (see libs.py) and asserted equal
to a direct computation (see direct.py). The same file comes out of every run.
"""
import json
import os
import sys

import cryptography
import doubleratchet
import twomemo.twomemo
import x3dh
import x3dh.base_state
import xeddsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from importlib.metadata import version

import direct
import libs
from libs import Draw, FixedSecrets, LIBS, RatchetOfGivenKeys, run

HERE = os.path.dirname(os.path.abspath(__file__))


def hexed(value):
    """The same value with bytes turned to hex, as JSON wants it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {key: hexed(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [hexed(inner) for inner in value]
    return value


def curve_priv(seed):
    """The private scalar as stored: not clamped."""
    return direct.hashlib.sha512(seed).digest()[:32]


# ------------------------------------------------------------- a. identities

def identity(seed):
    priv = curve_priv(seed)
    ed, curve = xeddsa.seed_to_ed25519_pub(seed), xeddsa.priv_to_curve25519_pub(priv)
    assert xeddsa.seed_to_priv(seed) == direct.clamp(priv)   # libxeddsa clamps at once
    assert ed == xeddsa.priv_to_ed25519_pub(priv) == direct.ed25519_pub(seed)
    assert ed == direct.edwards_encode(direct.edwards_multiply(int.from_bytes(direct.clamp(priv), "little") % direct.Q))
    assert curve == direct.x25519_pub(priv) == direct.edwards_to_montgomery(ed)
    return {"seed": seed, "ed25519_pub": ed, "x25519_priv": priv, "x25519_pub": curve}


def identities(draw):
    result = [identity(draw.seed()) for _ in range(12)]
    assert all(item["ed25519_pub"][31] < 128 for item in result)
    return result


def maps(draw):
    result = []
    for index in range(12):
        sign = index % 2
        ed = direct.ed25519_pub(draw.seed(sign))
        u = xeddsa.ed25519_pub_to_curve25519_pub(ed)
        assert u == direct.edwards_to_montgomery(ed)
        assert ed == xeddsa.curve25519_pub_to_ed25519_pub(u, bool(sign)) == direct.montgomery_to_edwards(u, sign)
        result.append({"ed25519_pub": ed, "sign": sign, "x25519_pub": u})
    return result


def maps_rejected():
    """Ed25519 keys that libxeddsa refuses to convert."""
    result = []
    for why, ed in [
        ("order 4, y = 0", "00" * 32),
        ("order 1, y = 1: no u", "01" + "00" * 31),
        ("order 2, y = -1", "ec" + "ff" * 30 + "7f"),
        ("order 8", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
        ("order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
        ("not on the curve, y = 2", "02" + "00" * 31),
    ]:
        try:
            xeddsa.ed25519_pub_to_curve25519_pub(bytes.fromhex(ed))
            raise AssertionError("accepted")
        except xeddsa.XEdDSAException:
            result.append({"ed25519_pub": ed, "why": why})
    return result


# ------------------------------------------------------------- b. signatures

def signatures(draw):
    """Verify as Ed25519 with `ed25519_pub`. For kind "libsignal" only u is known:
    the sign is signature[63] >> 7, and that bit is cleared before verifying."""
    result = []

    def add(kind, seed, message, signature, sign, valid, **more):
        u = xeddsa.priv_to_curve25519_pub(curve_priv(seed))
        ed = xeddsa.curve25519_pub_to_ed25519_pub(u, bool(sign))
        plain = signature
        if kind == "libsignal":
            ed = xeddsa.curve25519_pub_to_ed25519_pub(u, signature[63] > 127)
            plain = signature[:63] + bytes([signature[63] & 127])
        assert xeddsa.ed25519_verify(plain, ed, message) == direct.ed25519_verify(ed, plain, message) == valid
        result.append({"kind": kind, "seed": seed, "x25519_pub": u, "ed25519_pub": ed, "sign": ed[31] >> 7,
                       "message": message, "signature": signature, "valid": valid, **more})

    def flipped(data, at, mask=1):
        return data[:at] + bytes([data[at] ^ mask]) + data[at + 1:]

    messages = [b"", b"a", b"\x05" + draw.bytes(32), draw.bytes(32), draw.bytes(100)]
    for index, message in enumerate(messages):
        # Plain Ed25519 with the seed.
        seed = draw.seed(index % 2)
        signature = xeddsa.ed25519_seed_sign(seed, message)
        assert signature == direct.ed25519_sign(seed, message)
        add("ed25519", seed, message, signature, index % 2, True)
        if message:
            add("ed25519", seed, flipped(message, 0), signature, index % 2, False, broken="message")
        add("ed25519", seed, message, flipped(signature, 7 * index), index % 2, False, broken="R")

        # XEdDSA: the scalar made to give an Edwards key with the sign wanted.
        for key_sign in 0, 1:
            for sign in 0, 1:
                seed, nonce = draw.seed(key_sign), draw.bytes(64)
                priv = xeddsa.priv_force_sign(xeddsa.seed_to_priv(seed), bool(sign))
                assert priv == direct.force_sign(curve_priv(seed), sign)
                signature = xeddsa.ed25519_priv_sign(priv, message, nonce)
                assert signature == direct.xeddsa_sign(priv, message, nonce)
                add("xeddsa", seed, message, signature, sign, True, scalar=priv, nonce=nonce)
                if index == 2:
                    add("xeddsa", seed, message, signature, 1 - sign, False, broken="other sign of the key")
                    add("xeddsa", seed, message, flipped(signature, 40 + sign), sign, False, broken="s")

        # libsignal: the scalar as it is, the sign of the key in the signature's top bit.
        for key_sign in 1, 0:
            seed, nonce = draw.seed(key_sign), draw.bytes(64)
            priv = xeddsa.seed_to_priv(seed)
            signature = xeddsa.ed25519_priv_sign(priv, message, nonce)
            assert signature == direct.xeddsa_sign(priv, message, nonce) and signature[63] < 128
            marked = flipped(signature, 63, key_sign << 7)
            add("libsignal", seed, message, marked, key_sign, True, scalar=priv, nonce=nonce)
            if key_sign and index < 2:
                add("libsignal", seed, message, signature, key_sign, False, broken="sign bit missing")
                add("libsignal", seed, message, flipped(marked, 3), key_sign, False, broken="R")
    return result


# ------------------------------------------------------------- c. agreements

class Agreement:
    """X3DH between a (the initiator) and b, by x3dh and directly."""

    def __init__(self, lib, draw, sign_a=0, sign_b=0):
        d = lib.direct
        self.lib = lib
        self.seed_a, self.seed_b = draw.seed(sign_a), draw.seed(sign_b)
        self.ek, self.spk, self.pk = draw.bytes(32), draw.bytes(32), draw.bytes(32)
        self.spk_id, self.pk_id = 1 + draw.below(300), 1 + draw.below(100000)
        self.spk_pub, self.pk_pub = direct.x25519_pub(self.spk), direct.x25519_pub(self.pk)
        self.ed_a, self.ed_b = direct.ed25519_pub(self.seed_a), direct.ed25519_pub(self.seed_b)

        self.signature = xeddsa.ed25519_priv_sign(
            xeddsa.seed_to_priv(self.seed_b), lib.spk_signed(self.spk_pub), draw.bytes(64))

        state_a = libs.x3dh_state(lib, self.seed_a)
        state_b = libs.x3dh_state(lib, self.seed_b, self.spk, self.signature, [self.pk])
        x3dh.base_state.secrets = FixedSecrets(self.ek)
        self.sk, self.ad, self.header = run(state_a.get_shared_secret_active(state_b.bundle))
        sk_b, ad_b, spk_pair = run(state_b.get_shared_secret_passive(self.header))
        assert (sk_b, ad_b, spk_pair.priv) == (self.sk, self.ad, self.spk)

        # The same directly, from either side.
        priv_a, priv_b = curve_priv(self.seed_a), curve_priv(self.seed_b)
        u_a, u_b = direct.edwards_to_montgomery(self.ed_a), direct.edwards_to_montgomery(self.ed_b)
        ek_pub = direct.x25519_pub(self.ek)
        assert ek_pub == self.header.ephemeral_key
        self.dh = [direct.x25519(priv_a, self.spk_pub), direct.x25519(self.ek, u_b),
                   direct.x25519(self.ek, self.spk_pub), direct.x25519(self.ek, self.pk_pub)]
        assert self.dh == [direct.x25519(self.spk, u_a), direct.x25519(priv_b, ek_pub),
                           direct.x25519(self.spk, ek_pub), direct.x25519(self.pk, ek_pub)]
        assert self.sk == direct.x3dh(d.x3dh_info, self.dh)
        self.ads = d.ads(self.ed_a, self.ed_b)
        assert self.ad == self.ads[0]
        assert direct.ed25519_verify(self.ed_b, self.signature, lib.spk_signed(self.spk_pub))

    def record(self):
        """Public keys in wire form: 0.3 has 05||u, 2 the bare 32 bytes."""
        d = self.lib.direct
        prefix = b"\x05" if d.name == "0.3" else b""
        # On the wire 0.3 has the sign of the Edwards key in the signature.
        signature = self.signature
        if d.name == "0.3":
            signature = signature[:63] + bytes([signature[63] | self.ed_b[31] & 128])
        return {
            "dialect": d.name, "info": d.x3dh_info.decode(),
            "a": {"seed": self.seed_a, "ik": d.wire_identity(self.ed_a),
                  "ek_priv": self.ek, "ek": prefix + self.header.ephemeral_key},
            "b": {"seed": self.seed_b, "ik": d.wire_identity(self.ed_b),
                  "spk_id": self.spk_id, "spk_priv": self.spk, "spk": prefix + self.spk_pub,
                  "spk_signature": signature,
                  "pk_id": self.pk_id, "pk_priv": self.pk, "pk": prefix + self.pk_pub},
            "dh": self.dh, "sk": self.sk, "ad": self.ad,
        }


def agreements(draw):
    result = [Agreement(LIBS[name], draw).record() for name in ("0.3", "2") for _ in range(4)]
    # Identity keys with sign 1, which other implementations may well have.
    result += [Agreement(LIBS[name], draw, *signs).record() for name in ("0.3", "2") for signs in ((1, 0), (1, 1))]
    return result


# ------------------------------------------------------------ d. transcripts

class Party:
    """One side of a session, both as the library has it and directly."""

    def __init__(self, agreement, side):
        self.lib, self.agreement, self.side = agreement.lib, agreement, side
        self.ratchet = None
        self.answered = side == "b"        # no envelope is needed any more
        self.ad_send, self.ad_receive = agreement.ads if side == "a" else agreement.ads[::-1]
        self.direct = direct.Ratchet(self.lib.direct, agreement.sk, self.ad_send, self.ad_receive)
        if side == "b":
            self.direct.wait(agreement.spk)

    def send(self, plaintext):
        """-> the fields of the step"""
        RatchetOfGivenKeys.drew = drew = []
        if self.ratchet is None:
            self.ratchet, encrypted = run(self.lib.ratchet_class.encrypt_initial_message(
                *self.lib.ratchet_parameters, self.agreement.sk, self.agreement.spk_pub, plaintext, self.ad_send))
            self.direct.start(self.agreement.spk_pub, list(drew))
        else:
            encrypted = run(self.ratchet.encrypt_message(plaintext, self.ad_send))
        message = encrypted.ciphertext
        again, mk, n, pn = self.direct.send(plaintext)
        assert again == message
        header = encrypted.header
        assert (n, pn) == (header.sending_chain_length, header.previous_sending_chain_length)
        step = {"n": n, "pn": pn, "drew": list(drew), "plaintext": plaintext, "mk": mk, "message": message}
        if not self.answered:
            a = self.agreement
            step["kex"] = self.lib.envelope(a.header, a.pk_id, a.spk_id, a.ed_a, message)
            assert step["kex"] == self.lib.direct.envelope(
                a.pk_id, a.spk_id, a.ed_a, direct.x25519_pub(a.ek), message)
        return step

    def receive(self, message):
        """-> plaintext or None, result, keys drawn"""
        RatchetOfGivenKeys.drew = drew = []
        plaintext = None
        try:
            encrypted = self.lib.parse(message)
            if self.ratchet is None:
                self.ratchet, plaintext = run(self.lib.ratchet_class.decrypt_initial_message(
                    *self.lib.ratchet_parameters, self.agreement.sk, self.agreement.spk, encrypted, self.ad_receive))
            else:
                plaintext = run(self.ratchet.decrypt_message(encrypted, self.ad_receive))
            result = "ok"
            self.answered = True
        except doubleratchet.AuthenticationFailedException:
            result = "mac"
        except doubleratchet.DuplicateMessageException:
            result = "duplicate"

        left = list(drew)
        try:
            assert self.direct.receive(message, left) == plaintext and result == "ok"
        except direct.Refused as refusal:
            assert str(refusal) == result
        assert not left
        return plaintext, result, list(drew)


def transcript(name, lib, messages=40, burst=3, late=0.0, lose=0.0, replay=0.0, tamper=0.0, opening=1,
               cross=0.0, key_transport=False):
    """Simulate one session.

    burst: at most so many messages at once from one side; opening: how many the
    initiator sends before anything arrives; late: how often a message is
    overtaken; lose: how often one never arrives; cross: how often a side speaks
    before it has read what waits for it.
    """
    draw = Draw(f"transcript/{lib.direct.name}/{name}")
    RatchetOfGivenKeys.source = draw
    agreement = Agreement(lib, draw)
    parties = {"a": Party(agreement, "a"), "b": Party(agreement, "b")}
    waiting = {"a": [], "b": []}     # numbers of messages on their way to a, to b
    sent, arrived, steps = [], [], []

    def send(side, count):
        for _ in range(count):
            length = lib.direct.plaintext_length
            # Dialect 2 has 32 zero bytes, without an HMAC, in messages that only move the ratchet.
            empty = key_transport and len(sent) % 13 == 5
            plaintext = bytes(32) if empty else draw.bytes(length)
            step = {"do": "send", "by": side, "i": len(sent), **parties[side].send(plaintext)}
            sent.append((side, step["message"], plaintext))
            steps.append(step)
            if not draw.chance(lose):
                waiting["b" if side == "a" else "a"].append(step["i"])

    def receive(side, i, flip=None):
        _, message, plaintext = sent[i]
        step = {"do": "receive", "by": side, "i": i}
        if flip:
            at, mask = flip
            message = message[:at] + bytes([message[at] ^ mask]) + message[at + 1:]
            step["flip"] = [at, mask]
        got, step["result"], step["drew"] = parties[side].receive(message)
        if step["result"] == "ok":
            assert got == plaintext and not flip
            arrived.append((side, i))
        steps.append(step)

    def read(side, keep_late=True):
        for i in list(waiting[side]):
            if keep_late and draw.chance(late):
                continue                              # overtaken, comes later
            if draw.chance(tamper):
                size = len(sent[i][1])
                # A byte of the ciphertext or of the MAC, which ends 0.3 and begins 2.
                at = size - 1 - draw.below(56) if lib is libs.OldLib or draw.chance(0.5) else 2 + draw.below(16)
                receive(side, i, (at, 1 << draw.below(8)))
            waiting[side].remove(i)
            receive(side, i)
            if draw.chance(replay):
                receive(side, i)
        mine = [i for who, i in arrived if who == side]
        if mine and draw.chance(replay):
            receive(side, mine[draw.below(len(mine))])   # an old one once more

    send("a", opening)
    while len(sent) < messages:
        side = "ab"[draw.below(2)]
        if not draw.chance(cross):
            read(side)
        if parties[side].ratchet is None:
            continue
        send(side, min(1 + draw.below(burst), messages - len(sent)))
    for _ in range(2):
        for side in "ab":
            # The last ones come in any order.
            waiting[side].sort(key=lambda i: draw.below(1000))
            read(side, keep_late=False)
    # Kept small: no empty lists of drawn keys, message keys in one transcript only.
    for step in steps:
        if not step["drew"]:
            del step["drew"]
        if name != "in order":
            step.pop("mk", None)
    record = agreement.record()
    # What the MAC covers before the message, by who sends.
    record["ad_sent_by"] = dict(zip("ab", agreement.ads))
    return {"name": name, **record, "steps": steps}


def transcripts(lib):
    new = lib is libs.NewLib
    return [
        transcript("in order", lib, burst=4),
        transcript("out of order", lib, burst=4, late=0.45, cross=0.3),
        transcript("lost, replayed and tampered with", lib, burst=4, late=0.2, lose=0.25, replay=0.25, tamper=0.2),
        transcript("many before the first answer", lib, opening=7, burst=3, late=0.5, lose=0.15, cross=0.5, tamper=0.1),
        transcript("long chains", lib, burst=14, late=0.3, lose=0.3, replay=0.1, key_transport=new),
    ]


# --------------------------------------------------------------- e. payloads

def payloads(draw):
    result = []
    texts = [b"", b"a", "Grüße, 世界 🐟".encode(), draw.bytes(15), draw.bytes(16), draw.bytes(17),
             draw.bytes(300)]
    for iv_length in 12, 16:
        for text in texts:
            key, iv = draw.bytes(16), draw.bytes(iv_length)
            sealed = AESGCM(key).encrypt(iv, text, None)
            result.append({"dialect": "0.3", "key": key, "iv": iv, "plaintext": text, "payload": sealed[:-16],
                           "tag": sealed[-16:], "key_and_tag": key + sealed[-16:]})
    backend = twomemo.twomemo.Twomemo(None)
    for text in texts:
        key = draw.bytes(32)
        twomemo.twomemo.secrets = FixedSecrets(key)
        content, material = run(backend.encrypt_plaintext(text))
        assert run(backend.decrypt_plaintext(content, material)) == text
        out = direct.hkdf(key, bytes(32), b"OMEMO Payload", 80)
        payload = direct.cbc_encrypt(out[:32], out[64:], text)
        tag = direct.mac(out[32:64], payload)[:16]
        assert (content.ciphertext, material.key, material.auth_tag) == (payload, key, tag)
        result.append({"dialect": "2", "key": key, "iv": b"", "plaintext": text, "payload": payload,
                       "tag": tag, "key_and_tag": key + tag})
    return result


# --------------------------------------------------------------------- write

def compact(value):
    return json.dumps(hexed(value), separators=(",", ":"))


def main():
    sections = {
        "identities": identities(Draw("identities")),
        "maps": maps(Draw("maps")),
        "maps_rejected": maps_rejected(),
        "signatures": signatures(Draw("signatures")),
        "agreements": agreements(Draw("agreements")),
        "transcripts": transcripts(libs.OldLib) + transcripts(libs.NewLib),
        "payloads": payloads(Draw("payloads")),
    }
    made_with = {name: version(name) for name in ("x3dh", "doubleratchet", "xeddsa", "twomemo", "omemo", "cryptography")}
    parts = ['"made_with":' + compact(made_with)]
    for name, items in sections.items():
        lines = []
        for item in items:
            if "steps" in item:
                steps = ",\n  ".join(compact(step) for step in item["steps"])
                head = compact({key: value for key, value in item.items() if key != "steps"})
                lines.append(f'{head[:-1]},"steps":[\n  {steps}]}}')
            else:
                lines.append(compact(item))
        parts.append(f'"{name}":[\n ' + ",\n ".join(lines) + "]")
    text = "{" + ",\n".join(parts) + "}\n"
    json.loads(text)
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "ratchet-vectors.json")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    print(path, len(text), "bytes;", ", ".join(f"{len(items)} {name}" for name, items in sections.items()))
    for item in sections["transcripts"]:
        results = [step["result"] for step in item["steps"] if step["do"] == "receive"]
        print(f"  {item['dialect']:>3} {item['name']}:", sum(s["do"] == "send" for s in item["steps"]), "sent,",
              sum("kex" in s for s in item["steps"]), "kex;", {r: results.count(r) for r in sorted(set(results))})


if __name__ == "__main__":
    main()
