"""Direct computation of everything in the vectors, on `cryptography` alone.

Nothing here uses x3dh, doubleratchet, xeddsa or twomemo. make_vectors.py
computes each vector with those libraries and asserts that the code below
comes to the same bytes.
"""
import copy
import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, hmac, padding
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ZERO32 = bytes(32)


# ---------------------------------------------------------------- primitives

def hkdf(key, salt, info, length):
    return HKDF(hashes.SHA256(), length, salt, info).derive(key)


def mac(key, data):
    h = hmac.HMAC(key, hashes.SHA256())
    h.update(data)
    return h.finalize()


def cbc_encrypt(key, iv, plaintext):
    padder = padding.PKCS7(128).padder()
    padded = padder.update(plaintext) + padder.finalize()
    aes = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
    return aes.update(padded) + aes.finalize()


def cbc_decrypt(key, iv, ciphertext):
    aes = Cipher(algorithms.AES(key), modes.CBC(iv)).decryptor()
    unpadder = padding.PKCS7(128).unpadder()
    return unpadder.update(aes.update(ciphertext) + aes.finalize()) + unpadder.finalize()


def raw(public_key):
    # `public_bytes_raw` is younger than Debian 12's version of the library.
    return public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def x25519_pub(priv):
    return raw(X25519PrivateKey.from_private_bytes(priv).public_key())


def x25519(priv, pub):
    return X25519PrivateKey.from_private_bytes(priv).exchange(X25519PublicKey.from_public_bytes(pub))


def ed25519_pub(seed):
    return raw(Ed25519PrivateKey.from_private_bytes(seed).public_key())


def ed25519_sign(seed, message):
    return Ed25519PrivateKey.from_private_bytes(seed).sign(message)


def ed25519_verify(pub, signature, message):
    try:
        Ed25519PublicKey.from_public_bytes(pub).verify(signature, message)
        return True
    except InvalidSignature:
        return False


def clamp(scalar):
    return bytes([scalar[0] & 248]) + scalar[1:31] + bytes([scalar[31] & 127 | 64])


# ------------------------------------------- Edwards curve, slow and readable

P = 2**255 - 19                                       # the field
Q = 2**252 + 27742317777372353535851937790883648493   # order of the base point
D = -121665 * pow(121666, -1, P) % P


def edwards_add(a, b):
    """Addition of affine points; complete, so it doubles too."""
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2 % P
    return ((x1 * y2 + x2 * y1) * pow(1 + t, -1, P) % P,
            (y1 * y2 + x1 * x2) * pow(1 - t, -1, P) % P)


BASE = (15112221349535400772501151409588531511454012693041857206046113283949847762202,
        46316835694926478169428394003475163141307993866256225615783033603165251855960)


def edwards_multiply(scalar, point=BASE):
    result = (0, 1)
    while scalar:
        if scalar & 1:
            result = edwards_add(result, point)
        point = edwards_add(point, point)
        scalar >>= 1
    return result


def edwards_encode(point):
    x, y = point
    return (y | (x & 1) << 255).to_bytes(32, "little")


def edwards_to_montgomery(ed):
    """u = (1 + y) / (1 - y); the sign is lost."""
    y = int.from_bytes(ed, "little") & (2**255 - 1)
    return ((1 + y) * pow(1 - y, -1, P) % P).to_bytes(32, "little")


def montgomery_to_edwards(u, sign):
    """y = (u - 1) / (u + 1), with the sign of x in the top bit."""
    u = (int.from_bytes(u, "little") & (2**255 - 1)) % P
    y = (u - 1) * pow(u + 1, -1, P) % P
    return (y | int(sign) << 255).to_bytes(32, "little")


def force_sign(priv, sign):
    """The clamped scalar, negated mod q where the Edwards key has another sign.

    A scalar that need not be negated stays as it is, not reduced mod q: its
    bytes go into the hash that makes r.
    """
    k = int.from_bytes(clamp(priv), "little")
    if edwards_encode(edwards_multiply(k % Q))[31] >> 7 != sign:
        k = -k % Q
    return k.to_bytes(32, "little")


def xeddsa_sign(a, message, nonce):
    """XEdDSA's signing with a scalar that is used as it is."""
    def number(*parts):
        return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % Q
    k = int.from_bytes(a, "little") % Q
    A = edwards_encode(edwards_multiply(k))
    r = number(b"\xfe" + b"\xff" * 31, a, message, nonce)
    R = edwards_encode(edwards_multiply(r))
    return R + ((r + number(R, A, message) * k) % Q).to_bytes(32, "little")


# ------------------------------------------------------------------ protobuf

def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def proto(*fields):
    """Write (number, int or bytes) pairs in the order given."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def unproto(data):
    """Read varint and length-delimited fields into a dictionary."""
    fields, at = {}, 0

    def read():
        nonlocal at
        shift = value = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        tag = read()
        if tag & 7 == 0:
            fields[tag >> 3] = read()
        elif tag & 7 == 2:
            length = read()
            if at + length > len(data):
                raise ValueError("cut short")
            fields[tag >> 3] = data[at:at + length]
            at += length
        else:
            raise ValueError("wire type")
    return fields


# ------------------------------------------------------------------ dialects

class Old:
    """OMEMO 0.3, eu.siacs.conversations.axolotl."""
    name = "0.3"
    x3dh_info = b"WhisperText"
    root_info = b"WhisperRatchet"
    message_info = b"WhisperMessageKeys"
    plaintext_length = 32

    @staticmethod
    def wire_identity(ed):
        return b"\x05" + edwards_to_montgomery(ed)

    @classmethod
    def ads(cls, ed_a, ed_b):
        """What the MAC covers before the message: by sender a, by sender b."""
        a, b = cls.wire_identity(ed_a), cls.wire_identity(ed_b)
        return a + b, b + a

    @staticmethod
    def seal(auth_key, ad, pub, n, pn, ciphertext):
        body = b"\x33" + proto((1, b"\x05" + pub), (2, n), (3, pn), (4, ciphertext))
        return body + mac(auth_key, ad + body)[:8]

    @staticmethod
    def read(message):
        """-> ratchet pub, n, pn, ciphertext, what the MAC covers after AD, MAC"""
        if message[0] != 0x33:
            raise ValueError("version")
        f = unproto(message[1:-8])
        if f[1][0] != 5 or len(f[1]) != 33:
            raise ValueError("key type")
        return f[1][1:], f[2], f[3], f[4], message[:-8], message[-8:]

    @staticmethod
    def envelope(pk_id, spk_id, ed_ik, ek, message):
        return b"\x33" + proto((1, pk_id), (2, b"\x05" + ek), (3, Old.wire_identity(ed_ik)),
                               (4, message), (6, spk_id))


class New:
    """OMEMO 0.8 and later, urn:xmpp:omemo:2."""
    name = "2"
    x3dh_info = b"OMEMO X3DH"
    root_info = b"OMEMO Root Chain"
    message_info = b"OMEMO Message Key Material"
    plaintext_length = 48

    @staticmethod
    def wire_identity(ed):
        return ed

    @classmethod
    def ads(cls, ed_a, ed_b):
        return ed_a + ed_b, ed_a + ed_b

    @staticmethod
    def seal(auth_key, ad, pub, n, pn, ciphertext):
        body = proto((1, n), (2, pn), (3, pub), (4, ciphertext))
        return proto((1, mac(auth_key, ad + body)[:16]), (2, body))

    @staticmethod
    def read(message):
        outer = unproto(message)
        f = unproto(outer[2])
        return f[3], f[1], f[2], f[4], outer[2], outer[1]

    @staticmethod
    def envelope(pk_id, spk_id, ed_ik, ek, message):
        return proto((1, pk_id), (2, spk_id), (3, ed_ik), (4, ek), (5, message))


DIALECTS = {"0.3": Old, "2": New}


def x3dh(info, dhs):
    return hkdf(b"\xff" * 32 + b"".join(dhs), ZERO32, info, 32)


# -------------------------------------------------------------- double ratchet

class Refused(Exception):
    pass


class Ratchet:
    """The Double Ratchet as in Signal's document; keys to draw are handed in."""
    LIMIT = 1000   # skipped keys for a message, and to keep

    def __init__(self, dialect, sk, ad_send, ad_receive):
        self.dialect, self.rk = dialect, sk
        self.ad_send, self.ad_receive = ad_send, ad_receive
        self.own = self.other = self.cks = self.ckr = None
        self.ns = self.nr = self.pn = 0
        self.skipped = {}

    def start(self, spk_pub, draws):
        """As the initiator."""
        self.own, self.other = draws.pop(0), spk_pub
        self.cks = self.root_step()
        return self

    def wait(self, spk_priv):
        """As the responder."""
        self.own = spk_priv
        return self

    def root_step(self):
        out = hkdf(x25519(self.own, self.other), self.rk, self.dialect.root_info, 64)
        self.rk = out[:32]
        return out[32:]

    @staticmethod
    def chain_step(ck):
        return mac(ck, b"\x02"), mac(ck, b"\x01")    # next chain key, message key

    def split(self, mk):
        out = hkdf(mk, ZERO32, self.dialect.message_info, 80)
        return out[:32], out[32:64], out[64:]

    def send(self, plaintext):
        """-> the message, the message key, n, pn"""
        self.cks, mk = self.chain_step(self.cks)
        key, auth_key, iv = self.split(mk)
        n, self.ns = self.ns, self.ns + 1
        return (self.dialect.seal(auth_key, self.ad_send, x25519_pub(self.own), n, self.pn,
                                  cbc_encrypt(key, iv, plaintext)), mk, n, self.pn)

    def receive(self, message, draws):
        """-> plaintext; raises Refused and changes nothing if it is refused"""
        trial = copy.deepcopy(self)
        plaintext = trial._receive(message, draws)
        self.__dict__ = trial.__dict__
        return plaintext

    def _skip(self, until):
        if until - self.nr > self.LIMIT:
            raise Refused("too-far")
        while self.nr < until:
            self.ckr, self.skipped[self.other, self.nr] = self.chain_step(self.ckr)
            self.nr += 1

    def _receive(self, message, draws):
        pub, n, pn, ciphertext, covered, tag = self.dialect.read(message)
        mk = self.skipped.pop((pub, n), None)
        if mk is None:
            if pub != self.other:
                if self.ckr is not None:
                    self._skip(pn)
                self.other, self.nr = pub, 0
                self.ckr = self.root_step()
                self.own = draws.pop(0)
                # pn is the length of the sending chain that now ends.
                self.pn, self.ns = self.ns, 0
                self.cks = self.root_step()
            self._skip(n)
            if n < self.nr:
                raise Refused("duplicate")
            self.ckr, mk = self.chain_step(self.ckr)
            self.nr += 1
        key, auth_key, iv = self.split(mk)
        if mac(auth_key, self.ad_receive + covered)[:len(tag)] != tag:
            raise Refused("mac")
        while len(self.skipped) > self.LIMIT:
            del self.skipped[next(iter(self.skipped))]
        return cbc_decrypt(key, iv, ciphertext)
