/* Pages an archive (XEP-0313) to its end with libxml2 and stores nothing: the yardstick for a catch-up.
 *
 * usage: page PORT USER PASSWORD [prompt]      direct TLS on 127.0.0.1, PLAIN, pages of 100
 * prompt: what is read is acknowledged at once, as kalij does, so that a server with Nagle's algorithm on need not wait.
 * Prints one JSON line: messages, seconds and CPU seconds from the first question to the last answer. */
#include <arpa/inet.h>
#include <libxml/parser.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

static SSL *tls;
static int depth, results, done, complete, reading, prompt;
static char last[256];
static size_t length, bodies;

static void fail(const char *what) { fprintf(stderr, "page: %s\n", what), exit(1); }

static void out(const char *form, ...) {
    char text[2048];
    va_list values;
    va_start(values, form);
    int size = vsnprintf(text, sizeof text, form, values);
    va_end(values);
    if (SSL_write(tls, text, size) != size) fail("cannot write");
}

static double now(clockid_t which) {
    struct timespec time;
    clock_gettime(which, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int is(const xmlChar *name, const char *wanted) { return !strcmp((const char *)name, wanted); }

static void started(void *unused, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces,
                    const xmlChar **declared, int count, int defaulted, const xmlChar **attributes) {
    depth++;
    if (depth == 3 && is(name, "result")) results++;
    if (depth == 3 && is(name, "fin"))
        for (int i = 0; i < count; i++)
            if (is(attributes[5 * i], "complete") && !strncmp((const char *)attributes[5 * i + 3], "true", 4)) complete = 1;
    if (is(name, "last")) reading = 1, length = 0;
    if (is(name, "body")) reading = 2;
}

static void ended(void *unused, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
    if (reading == 1) last[length] = 0;
    reading = 0;
    if (depth == 2 && is(name, "iq")) done = 1;
    depth--;
}

static void text(void *unused, const xmlChar *bytes, int count) {
    if (reading == 2) bodies += count;
    if (reading != 1 || length + count >= sizeof last) return;
    memcpy(last + length, bytes, count);
    length += count;
}

static xmlParserCtxtPtr parser;
static xmlSAXHandler sax;

static void restart(void) {
    if (parser) xmlFreeParserCtxt(parser);
    parser = xmlCreatePushParserCtxt(&sax, NULL, NULL, 0, NULL);
    xmlCtxtUseOptions(parser, XML_PARSE_NOENT | XML_PARSE_HUGE);
    depth = 0;
    out("<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' "
        "to='localhost' version='1.0'>");
}

static int take(char *bytes, int size) {
    int count = SSL_read(tls, bytes, size);
    if (count <= 0) fail("the server has closed the connection");
    if (prompt) setsockopt(SSL_get_fd(tls), IPPROTO_TCP, TCP_QUICKACK, &prompt, sizeof prompt);
    return count;
}

/* Reads until a text is there; only before the archive is read. */
static void until(const char *wanted) {
    static char bytes[65536];
    size_t size = 0;
    while (size < sizeof bytes - 1) {
        size += take(bytes + size, sizeof bytes - 1 - size);
        bytes[size] = 0;
        if (strstr(bytes, wanted)) {
            xmlParseChunk(parser, bytes, size, 0);
            return;
        }
    }
    fail("the server says too much");
}

static void page(void) {
    static char bytes[65536];
    static int number;
    done = 0;
    out("<iq type='set' id='p%d'><query xmlns='urn:xmpp:mam:2' queryid='q'><set xmlns='http://jabber.org/protocol/rsm'>"
        "<max>100</max>%s%s%s</set></query></iq>",
        number++, *last ? "<after>" : "", last, *last ? "</after>" : "");
    while (!done) {
        int count = take(bytes, sizeof bytes);
        if (xmlParseChunk(parser, bytes, count, 0)) fail("the server's XML is not usable");
    }
}

static void login(const char *user, const char *password) {
    char plain[256];
    unsigned char encoded[512];
    restart();
    until("</stream:features>");
    int size = snprintf(plain, sizeof plain, "%c%s%c%s", 0, user, 0, password);
    EVP_EncodeBlock(encoded, (unsigned char *)plain, size);
    out("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>%s</auth>", encoded);
    until("<success");
    restart();
    until("</stream:features>");
    out("<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>");
    until("</iq>");
}

int main(int count, char **words) {
    if (count != 4 && count != 5) return 64;
    prompt = count == 5;
    sax.initialized = XML_SAX2_MAGIC;
    sax.startElementNs = started, sax.endElementNs = ended, sax.characters = text;
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address)) fail("cannot connect");
    tls = SSL_new(SSL_CTX_new(TLS_client_method()));
    SSL_set_tlsext_host_name(tls, "localhost");
    SSL_set_fd(tls, descriptor);
    if (SSL_connect(tls) != 1) fail("no TLS");
    login(words[2], words[3]);
    double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    do page(); while (!complete);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"messages\": %d, \"seconds\": %.4f, \"cpu\": %.4f, \"bytes\": %zu, \"kilobytes\": %ld}\n", results,
           now(CLOCK_MONOTONIC) - wall, now(CLOCK_PROCESS_CPUTIME_ID) - cpu, bodies, usage.ru_maxrss);
    return 0;
}
