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

/* Macros that Swift cannot import. */
static inline int kalij_ssl_set_sni(SSL *s, const char *name) { return (int)SSL_set_tlsext_host_name(s, name); }
static inline void kalij_ssl_ctx_prepare(SSL_CTX *c) {
    SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
    SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_clear_mode(c, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_read_ahead(c, 1);
}
static inline void kalij_bio_retry_read(BIO *b) { BIO_set_retry_read(b); }
static inline void kalij_bio_retry_write(BIO *b) { BIO_set_retry_write(b); }
static inline void kalij_bio_clear_retry(BIO *b) { BIO_clear_retry_flags(b); }
