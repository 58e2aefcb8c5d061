/* Connects, logs in, resumes a session (XEP-0198) and does nothing else: the yardstick for a wake run.
 *
 * usage: resume PORT CA USER SALTED            binds, prints the session's id, and leaves without a word
 *        resume PORT CA USER SALTED ID HANDLED resumes, prints "resumed"
 * Direct TLS on 127.0.0.1 with the certificate checked, SCRAM-SHA-1 with the salted password (hex) of an earlier login, as a
 * client stores it. */
#include <arpa/inet.h>
#include <libxml/parser.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static SSL *tls;
static xmlParserCtxtPtr parser;
static xmlSAXHandler sax;
static int depth;
static char ended[64], text[1024], session[256];
static size_t length;

static void fail(const char *what) { fprintf(stderr, "resume: %s\n", what), exit(1); }

static void out(const char *form, ...) {
    char bytes[2048];
    va_list values;
    va_start(values, form);
    int size = vsnprintf(bytes, sizeof bytes, form, values);
    va_end(values);
    if (SSL_write(tls, bytes, size) != size) fail("cannot write");
}

static void start(void *unused, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces,
                  const xmlChar **declared, int count, int defaulted, const xmlChar **attributes) {
    if (++depth == 2) length = 0;
    for (int i = 0; i < count; i++)
        if (!strcmp((const char *)name, "enabled") && !strcmp((const char *)attributes[5 * i], "id"))
            snprintf(session, sizeof session, "%.*s", (int)(attributes[5 * i + 4] - attributes[5 * i + 3]), attributes[5 * i + 3]);
}

static void end(void *unused, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
    if (depth-- == 2) snprintf(ended, sizeof ended, "%s", name), text[length] = 0;
}

static void characters(void *unused, const xmlChar *bytes, int count) {
    if (length + count >= sizeof text) return;
    memcpy(text + length, bytes, count);
    length += count;
}

static void restart(void) {
    if (parser) xmlFreeParserCtxt(parser);
    parser = xmlCreatePushParserCtxt(&sax, NULL, NULL, 0, NULL);
    depth = 0;
    out("<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' "
        "to='localhost' version='1.0'>");
}

/* Reads until an element of the stream has ended, which is to have this name. */
static void await(const char *name) {
    char bytes[16384];
    *ended = 0;
    while (!*ended) {
        int count = SSL_read(tls, bytes, sizeof bytes);
        if (count <= 0) fail("the server has closed the connection");
        if (xmlParseChunk(parser, bytes, count, 0)) fail("the server's XML is not usable");
    }
    if (strcmp(ended, name)) fail(ended);
}

static void mac(const void *key, const char *data, unsigned char *result) {
    HMAC(EVP_sha1(), key, SHA_DIGEST_LENGTH, (const unsigned char *)data, strlen(data), result, NULL);
}

static void encode(char *into, const void *bytes, int count) { EVP_EncodeBlock((unsigned char *)into, bytes, count); }

static void login(const char *user, const char *hex) {
    unsigned char salted[SHA_DIGEST_LENGTH], key[SHA_DIGEST_LENGTH], stored[SHA_DIGEST_LENGTH], proof[SHA_DIGEST_LENGTH];
    char nonce[64], bare[256], first[300], encoded[1024], challenge[1024], final[512], authentication[2048];
    for (int i = 0; i < SHA_DIGEST_LENGTH; i++) sscanf(hex + 2 * i, "%2hhx", salted + i);
    RAND_bytes(key, 18);
    encode(nonce, key, 18);
    snprintf(bare, sizeof bare, "n=%s,r=%s", user, nonce);
    snprintf(first, sizeof first, "n,,%s", bare);
    encode(encoded, first, strlen(first));
    out("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='SCRAM-SHA-1'>%s</auth>", encoded);
    await("challenge");
    int size = EVP_DecodeBlock((unsigned char *)challenge, (unsigned char *)text, length);
    if (size < 0) fail("no base64");
    challenge[size] = 0;
    snprintf(final, sizeof final, "c=biws,%.*s", (int)strcspn(challenge, ","), challenge);
    snprintf(authentication, sizeof authentication, "%s,%s,%s", bare, challenge, final);
    mac(salted, "Client Key", key);
    SHA1(key, sizeof key, stored);
    mac(stored, authentication, proof);
    for (int i = 0; i < SHA_DIGEST_LENGTH; i++) proof[i] ^= key[i];
    size = snprintf(challenge, sizeof challenge, "%s,p=", final);
    encode(challenge + size, proof, sizeof proof);
    encode(encoded, challenge, strlen(challenge));
    out("<response xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>%s</response>", encoded);
    await("success");
    mac(salted, "Server Key", key);
    mac(key, authentication, proof);
    encode(encoded, proof, sizeof proof);
    size = EVP_DecodeBlock((unsigned char *)challenge, (unsigned char *)text, length);
    if (size < 2 || strncmp(challenge + 2, encoded, strlen(encoded))) fail("this is not the server");
}

static void secure(int port, const char *authority) {
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address)) fail("cannot connect");
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (SSL_CTX_load_verify_file(context, authority) != 1) fail("no authority");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    tls = SSL_new(context);
    SSL_set_tlsext_host_name(tls, "localhost");
    SSL_set1_host(tls, "localhost");
    SSL_set_fd(tls, descriptor);
    if (SSL_connect(tls) != 1) fail("no TLS");
}

int main(int count, char **words) {
    if (count != 5 && count != 7) return 64;
    sax.initialized = XML_SAX2_MAGIC;
    sax.startElementNs = start, sax.endElementNs = end, sax.characters = characters;
    secure(atoi(words[1]), words[2]);
    restart();
    await("features");
    login(words[3], words[4]);
    restart();
    await("features");
    if (count == 7) {
        out("<resume xmlns='urn:xmpp:sm:3' previd='%s' h='%s'/>", words[5], words[6]);
        await("resumed");
        puts("resumed");
    } else {
        out("<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>");
        await("iq");
        out("<enable xmlns='urn:xmpp:sm:3' resume='true'/>");
        await("enabled");
        puts(session);
    }
    fflush(stdout);
    _exit(0);
}
