"""The MIT libraries (x3dh, doubleratchet, xeddsa, twomemo), set up for both dialects.

Dialect 2 uses twomemo's own classes. Dialect 0.3 is put together here from
doubleratchet and x3dh; oldmemo is neither used nor was it read.
"""
import hashlib
import struct
import warnings

import doubleratchet
import twomemo
import twomemo.twomemo
import x3dh
import x3dh.base_state
import x3dh.models
import xeddsa
from doubleratchet.recommended import HashFunction, diffie_hellman_ratchet_curve25519, kdf_hkdf, kdf_separate_hmacs

import direct

warnings.simplefilter("ignore")   # doubleratchet warns where pn skips too many keys


def run(coroutine):
    """Run a coroutine of these libraries, none of which ever waits."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise RuntimeError("it waits")


class Draw:
    """Bytes that look random and are the same in every run."""

    def __init__(self, label):
        self.label, self.count = label, 0

    def bytes(self, n):
        self.count += 1
        return hashlib.shake_256(f"{self.label}/{self.count}".encode()).digest(n)

    def below(self, n):
        return int.from_bytes(self.bytes(8), "little") % n

    def chance(self, p):
        return self.below(1 << 32) < p * (1 << 32)

    def seed(self, sign=0):
        """An Ed25519 seed whose public key has this sign."""
        while True:
            seed = self.bytes(32)
            if direct.ed25519_pub(seed)[31] >> 7 == sign:
                return seed


class FixedSecrets:
    """Stands in for the module `secrets` inside x3dh, to fix the ephemeral key."""

    def __init__(self, *values):
        self.values = list(values)

    def token_bytes(self, n):
        value = self.values.pop(0)
        assert len(value) == n
        return value

    @staticmethod
    def choice(items):
        assert len(items) == 1
        return items[0]


class RatchetOfGivenKeys(diffie_hellman_ratchet_curve25519.DiffieHellmanRatchet):
    """Draws its private keys from `source` and notes them in `drew`."""
    source = None
    drew = []

    @staticmethod
    def _generate_priv():
        key = RatchetOfGivenKeys.source.bytes(32)
        RatchetOfGivenKeys.drew.append(key)
        return key


# ------------------------------------------------------------- dialect 0.3

class OldRootKDF(kdf_hkdf.KDF):
    @staticmethod
    def _get_hash_function():
        return HashFunction.SHA_256

    @staticmethod
    def _get_info():
        return b"WhisperRatchet"


class OldChainKDF(kdf_separate_hmacs.KDF):
    @staticmethod
    def _get_hash_function():
        return HashFunction.SHA_256


class OldAEAD(doubleratchet.AEAD):
    """Its associated data ends with the header, as OldDoubleRatchet puts it there."""

    @staticmethod
    async def encrypt(plaintext, key, associated_data):
        ad, (pub, n, pn) = associated_data[:66], struct.unpack(">32sII", associated_data[66:])
        material = direct.hkdf(key, bytes(32), b"WhisperMessageKeys", 80)
        ciphertext = direct.cbc_encrypt(material[:32], material[64:], plaintext)
        return direct.Old.seal(material[32:64], ad, pub, n, pn, ciphertext)

    @staticmethod
    async def decrypt(ciphertext, key, associated_data):
        material = direct.hkdf(key, bytes(32), b"WhisperMessageKeys", 80)
        inner, covered, tag = direct.Old.read(ciphertext)[3:]
        if direct.mac(material[32:64], associated_data[:66] + covered)[:8] != tag:
            raise doubleratchet.AuthenticationFailedException()
        return direct.cbc_decrypt(material[:32], material[64:], inner)


class OldDoubleRatchet(doubleratchet.DoubleRatchet):
    @staticmethod
    def _build_associated_data(associated_data, header):
        return associated_data + struct.pack(
            ">32sII", header.ratchet_pub, header.sending_chain_length, header.previous_sending_chain_length)


class OldX3DH(x3dh.BaseState):
    @staticmethod
    def _encode_public_key(key_format, pub):
        if key_format is x3dh.IdentityKeyFormat.ED_25519:    # identity keys, to know their sign
            pub = xeddsa.ed25519_pub_to_curve25519_pub(pub)
        return b"\x05" + pub


class OldLib:
    direct = direct.Old
    x3dh_class, key_format, x3dh_info = OldX3DH, x3dh.IdentityKeyFormat.ED_25519, b"WhisperText"
    ratchet_class = OldDoubleRatchet
    ratchet_parameters = (RatchetOfGivenKeys, OldRootKDF, OldChainKDF, b"\x02\x01", 1000, 1000, OldAEAD)

    @staticmethod
    def spk_signed(pub):
        return b"\x05" + pub

    @staticmethod
    def parse(message):
        pub, n, pn = direct.Old.read(message)[:3]
        return doubleratchet.EncryptedMessage(doubleratchet.Header(pub, pn, n), message)

    @staticmethod
    def envelope(header, pk_id, spk_id, ed_ik, message):
        assert header.identity_key == ed_ik
        return direct.Old.envelope(pk_id, spk_id, ed_ik, header.ephemeral_key, message)


# --------------------------------------------------------------- dialect 2

class NewLib:
    direct = direct.New
    x3dh_class, key_format = twomemo.twomemo.StateImpl, x3dh.IdentityKeyFormat.ED_25519
    x3dh_info = twomemo.twomemo.StateImpl.INFO
    ratchet_class = twomemo.twomemo.DoubleRatchetImpl
    ratchet_parameters = (RatchetOfGivenKeys, twomemo.twomemo.RootChainKDFImpl,
                          twomemo.twomemo.MessageChainKDFImpl,
                          twomemo.twomemo.DoubleRatchetImpl.MESSAGE_CHAIN_CONSTANT,
                          1000, 1000, twomemo.twomemo.AEADImpl)

    @staticmethod
    def spk_signed(pub):
        return pub

    @staticmethod
    def parse(message):
        return twomemo.twomemo.EncryptedKeyMaterialImpl.parse(message, "", 0).encrypted_message

    @staticmethod
    def envelope(header, pk_id, spk_id, ed_ik, message):
        assert header.identity_key == ed_ik
        return twomemo.twomemo.KeyExchangeImpl(header, spk_id, pk_id).serialize(message)


LIBS = {"0.3": OldLib, "2": NewLib}


def x3dh_state(lib, seed, spk=bytes([9] * 32), signature=bytes(64), prekeys=()):
    return lib.x3dh_class.from_model(x3dh.models.BaseStateModel(
        identity_key=x3dh.models.IdentityKeyPairModel(secret=seed, secret_type="SEED"),
        signed_pre_key=x3dh.models.SignedPreKeyPairModel(priv=spk, sig=signature, timestamp=0),
        old_signed_pre_key=None, pre_keys=frozenset(prekeys),
    ), lib.key_format, x3dh.HashFunction.SHA_256, lib.x3dh_info)
