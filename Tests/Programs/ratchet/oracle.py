"""oracle.py DIALECT: both sides of conversations, for the model test of KalijRatchet.

DIALECT is 0.3 or 2. The MIT libraries x3dh and doubleratchet do the work (`libs.py`), here Debian's packages. The test plays
the same conversations with the same random numbers, and compares. One JSON object a line each way; bytes are hexadecimal digits.

    {"op": "begin", "session": S}                        the keys of both sides, all of them
    {"op": "send", "session": S, "by": "a", "text": H}   the message, and the ratchet keys that were drawn
    {"op": "receive", "session": S, "by": "b", "message": H}
                                                         the text or the refusal, and the keys drawn; refused: nothing changes
    {"op": "save" | "restore", "session": S, "by": "a"}  notes a side, or puts the noted side back
"""
import copy
import json
import os
import signal
import sys

import doubleratchet
import x3dh.base_state

import direct
import libs
from libs import Draw, FixedSecrets, LIBS, RatchetOfGivenKeys, run


class Side:
    def __init__(self, agreement, name):
        self.lib, self.agreement, self.name, self.ratchet = agreement.lib, agreement, name, None
        self.ad_send, self.ad_receive = agreement.ads if name == "a" else agreement.ads[::-1]

    def send(self, text):
        if self.ratchet is None:
            self.ratchet, encrypted = run(self.lib.ratchet_class.encrypt_initial_message(
                *self.lib.ratchet_parameters, self.agreement.sk, self.agreement.spk_pub, text, self.ad_send))
        else:
            encrypted = run(self.ratchet.encrypt_message(text, self.ad_send))
        return {"message": encrypted.ciphertext}

    def receive(self, message):
        encrypted = self.lib.parse(message)
        if self.ratchet is None:
            self.ratchet, text = run(self.lib.ratchet_class.decrypt_initial_message(
                *self.lib.ratchet_parameters, self.agreement.sk, self.agreement.spk, encrypted, self.ad_receive))
        else:
            text = run(self.ratchet.decrypt_message(encrypted, self.ad_receive))
        return {"text": text}


class Conversation:
    def __init__(self, lib, draw):
        self.lib = lib
        self.seed_a, self.seed_b = draw.seed(), draw.seed()
        self.ek, self.spk, self.pk = draw.bytes(32), draw.bytes(32), draw.bytes(32)
        self.spk_pub = direct.x25519_pub(self.spk)
        state_a = libs.x3dh_state(lib, self.seed_a)
        state_b = libs.x3dh_state(
            lib, self.seed_b, self.spk, direct.ed25519_sign(self.seed_b, lib.spk_signed(self.spk_pub)), [self.pk])
        x3dh.base_state.secrets = FixedSecrets(self.ek)
        self.sk, _, _ = run(state_a.get_shared_secret_active(state_b.bundle))
        self.ads = lib.direct.ads(direct.ed25519_pub(self.seed_a), direct.ed25519_pub(self.seed_b))
        self.sides = {"a": Side(self, "a"), "b": Side(self, "b")}
        self.saved = {}

    def keys(self):
        return {"seed_a": self.seed_a, "seed_b": self.seed_b, "ek": self.ek, "spk": self.spk, "pk": self.pk}


def copied(side):
    twin = copy.copy(side)
    twin.ratchet = copy.deepcopy(side.ratchet)
    return twin


def refusal(side, error):
    return {"refused": type(error).__name__ + (f": {error}" if str(error) else "")}


def answer(question, lib, draw, conversations):
    name = question["session"]
    if question["op"] == "begin":
        conversations[name] = Conversation(lib, draw)
        return conversations[name].keys()
    conversation, by = conversations[name], question["by"]
    side = conversation.sides[by]
    RatchetOfGivenKeys.drew = drew = []
    if question["op"] == "send":
        return {**side.send(bytes.fromhex(question["text"])), "drew": drew}
    if question["op"] == "receive":
        before = copied(side)
        try:
            return {**side.receive(bytes.fromhex(question["message"])), "drew": drew}
        except Exception as error:    # whatever the libraries throw at nonsense
            conversation.sides[by] = before
            return refusal(side, error)
    if question["op"] == "save":
        conversation.saved[by] = copied(side)
    else:
        conversation.sides[by] = copied(conversation.saved[by])
    return {}


def hexed(value):
    if isinstance(value, bytes):
        return value.hex()
    return [hexed(item) for item in value] if isinstance(value, list) else value


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in LIBS:
        sys.exit(__doc__)
    # Nothing waits without an end.
    signal.alarm(int(os.environ.get("ORACLE_SECONDS", "600")))
    draw, conversations = Draw(os.environ.get("ORACLE_SEED", "1")), {}
    RatchetOfGivenKeys.source = draw
    for line in sys.stdin:
        reply = answer(json.loads(line), LIBS[sys.argv[1]], draw, conversations)
        print(json.dumps({key: hexed(value) for key, value in reply.items()}), flush=True)


if __name__ == "__main__":
    main()
