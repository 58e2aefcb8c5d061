#pragma once
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>
#include <openssl/bio.h>
#include <openssl/x509_vfy.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/pem.h>
#include <openssl/ecdsa.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/param_build.h>
#include <openssl/ec.h>
#include <openssl/rsa.h>
#include <openssl/cryptoerr_legacy.h>
#include <openssl/sslerr_legacy.h>

/* OpenSSL does not load its texts of errors in this process. Only before all other calls of OpenSSL. */
static inline void kalij_begin_without_error_texts(void) {
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS | OPENSSL_INIT_NO_LOAD_SSL_STRINGS, NULL);
}
/* These functions are deprecated because OpenSSL loads the texts by itself, unless it was told not to. */
static inline void kalij_load_error_texts(void) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
    ERR_load_SSL_strings();
    ERR_load_CRYPTO_strings();
    ERR_load_X509_strings();
    ERR_load_X509V3_strings();
    ERR_load_PEM_strings();
    ERR_load_PKCS12_strings();
    ERR_load_ASN1_strings();
    ERR_load_EVP_strings();
    ERR_load_RSA_strings();
    ERR_load_EC_strings();
    ERR_load_BIO_strings();
#pragma clang diagnostic pop
}

/* Macros, unavailable in Swift. */
static inline int kalij_ssl_set_sni(SSL *s, const char *name) { return (int)SSL_set_tlsext_host_name(s, name); }
static inline void kalij_ssl_ctx_prepare(SSL_CTX *c) {
    SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
    SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_clear_mode(c, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_read_ahead(c, 1);
    /* Only the first group's key is sent. OpenSSL 3.5 by itself would send ML-KEM's, too: 1.2 kB. */
    SSL_CTX_set1_groups_list(c, "X25519:P-256:P-384");
    /* Of TLS 1.2 what RFC 9325, 4.2, recommends, and signatures that certificates have: OpenSSL's own lists are 80 bytes longer. */
    SSL_CTX_set_cipher_list(c, "ECDHE+AESGCM:ECDHE+CHACHA20");
    SSL_CTX_set1_sigalgs_list(c, "ecdsa_secp256r1_sha256:ecdsa_secp384r1_sha384:ecdsa_secp521r1_sha512:ed25519:ed448:"
        "rsa_pss_rsae_sha256:rsa_pss_rsae_sha384:rsa_pss_rsae_sha512:rsa_pkcs1_sha256:rsa_pkcs1_sha384:rsa_pkcs1_sha512");
}
/* Sessions are handed to the callback, and not kept in the context. */
static inline void kalij_ssl_ctx_hand_out_sessions(SSL_CTX *c, int (*given)(SSL *, SSL_SESSION *)) {
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(c, given);
}
static inline void kalij_bio_retry_read(BIO *b) { BIO_set_retry_read(b); }
static inline void kalij_bio_retry_write(BIO *b) { BIO_set_retry_write(b); }
static inline void kalij_bio_clear_retry(BIO *b) { BIO_clear_retry_flags(b); }
static inline int kalij_ssl_ctx_add1_chain_cert(SSL_CTX *c, X509 *x) { return (int)SSL_CTX_add1_chain_cert(c, x); }
/* OpenSSL keeps pointers into the OSSL_PARAMs for the call alone. */
static inline int kalij_hmac_sha256_init(EVP_MAC_CTX *c, const unsigned char *key, size_t n) {
    char digest[] = "SHA256";
    OSSL_PARAM p[2] = { OSSL_PARAM_construct_utf8_string("digest", digest, 0), OSSL_PARAM_construct_end() };
    return EVP_MAC_init(c, key, n, p);
}
/* Overwrites what functions that were called before have left on the stack: X25519 of OpenSSL 3.0 leaves its result and
   the scalar there. Not inlined: the bytes have to be where those functions had theirs. */
__attribute__((noinline)) static void kalij_overwrite_stack(void) {
    unsigned char bytes[16384];
    OPENSSL_cleanse(bytes, sizeof bytes);
}
/* A new key on P-256: the function behind this macro has any number of arguments. */
static inline EVP_PKEY *kalij_p256_generate(void) { return EVP_EC_gen("P-256"); }
/* Arithmetic on P-256 with a group that is made once: OpenSSL's keys make the group anew each time, which takes longer than the
   arithmetic. Numbers have 32 bytes, points 65 (uncompressed). 1 for success; a point that is not on the curve is none. */
static inline int kalij_p256_is_point(const EC_GROUP *group, const unsigned char *bytes) {
    EC_POINT *point = EC_POINT_new(group);
    int done = point && EC_POINT_oct2point(group, point, bytes, 65, NULL) == 1;
    EC_POINT_free(point);
    return done;
}
/* A random number and its point. */
static inline int kalij_p256_make(const EC_GROUP *group, unsigned char *number, unsigned char *bytes) {
    BIGNUM *secret = BN_secure_new();
    EC_POINT *point = EC_POINT_new(group);
    int done = secret && point && BN_priv_rand_range(secret, EC_GROUP_get0_order(group)) == 1 && !BN_is_zero(secret)
        && EC_POINT_mul(group, point, secret, NULL, NULL, NULL) == 1
        && EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, bytes, 65, NULL) == 65
        && BN_bn2binpad(secret, number, 32) == 32;
    BN_clear_free(secret);
    EC_POINT_free(point);
    return done;
}
/* The x coordinate of a number times a point (SEC 1, 3.3.1). The order of P-256 is prime, so a point on the curve needs no further check. */
static inline int kalij_p256_derive(const EC_GROUP *group, const unsigned char *number, const unsigned char *bytes, unsigned char *shared) {
    BIGNUM *secret = BN_secure_new(), *x = BN_secure_new();
    EC_POINT *point = EC_POINT_new(group);
    int done = secret && x && point && BN_bin2bn(number, 32, secret);
    if (done) BN_set_flags(secret, BN_FLG_CONSTTIME);
    done = done && EC_POINT_oct2point(group, point, bytes, 65, NULL) == 1
        && EC_POINT_mul(group, point, NULL, point, secret, NULL) == 1 && !EC_POINT_is_at_infinity(group, point)
        && EC_POINT_get_affine_coordinates(group, point, x, NULL, NULL) == 1 && BN_bn2binpad(x, shared, 32) == 32;
    BN_clear_free(secret);
    BN_clear_free(x);
    EC_POINT_clear_free(point);
    return done;
}
/* HKDF with SHA-256 (RFC 5869). OpenSSL keeps pointers into the OSSL_PARAMs for the call alone, and changes nothing there. */
static inline int kalij_hkdf_sha256(EVP_KDF *kdf, unsigned char *out, size_t count, const unsigned char *key, size_t keys,
    const unsigned char *salt, size_t salts, const unsigned char *info, size_t infos) {
    char digest[] = "SHA256";
    OSSL_PARAM p[5] = { OSSL_PARAM_construct_utf8_string("digest", digest, 0),
        // lives: the context that reads the bytes is freed within the call
        OSSL_PARAM_construct_octet_string("key", (void *)key, keys),
        // lives: the context that reads the bytes is freed within the call
        OSSL_PARAM_construct_octet_string("salt", (void *)salt, salts),
        // lives: the context that reads the bytes is freed within the call
        OSSL_PARAM_construct_octet_string("info", (void *)info, infos), OSSL_PARAM_construct_end() };
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
    int done = context ? EVP_KDF_derive(context, out, count, p) : 0;
    EVP_KDF_CTX_free(context);
    return done;
}
