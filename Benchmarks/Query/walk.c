// walk SAMPLES PASSES: the queries of Benchmarks/Sources/query as loops in C over nodes with interned names, so that
// names are compared as pointers: the limit for any tree. One line of JSON for each query.
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { const char *name, *value; size_t length; } attribute;
typedef struct node {
    const char *name, *namespace;
    struct node *first, *next;
    attribute *attributes;
    size_t attribute_count, text_length;
} node;

typedef struct { const char *namespace, *name, *attribute, *value; } step;
// `wanted`: an attribute, "#" for the text, NULL to ask whether the element is there.
typedef struct { const char *kind; int count; step steps[4]; const char *wanted; } query;

#define CLIENT "jabber:client"
#define MAM {"urn:xmpp:mam:2", "result"}, {"urn:xmpp:forward:0", "forwarded"}
#define OMEMO "eu.siacs.conversations.axolotl"
#define DISCO "http://jabber.org/protocol/disco#info"
#define MUC "http://jabber.org/protocol/muc#user"
static query queries[] = {
    {"chat", 1, {{CLIENT, "body"}}, "#"},
    {"chat", 0, {{0}}, "from"},
    {"chat", 1, {{"urn:xmpp:sid:0", "stanza-id"}}, "id"},
    {"mam", 4, {MAM, {CLIENT, "message"}, {CLIENT, "body"}}, "#"},
    {"mam", 3, {MAM, {"urn:xmpp:delay", "delay"}}, "stamp"},
    {"mucpres", 2, {{MUC, "x"}, {MUC, "item"}}, "role"},
    {"omemo", 3, {{OMEMO, "encrypted"}, {OMEMO, "header"}, {OMEMO, "key", "prekey", "true"}}, "#"},
    {"disco", 2, {{DISCO, "query"}, {DISCO, "feature", "var", "urn:xmpp:mam:2"}}, NULL},
    {"chat", 1, {{"urn:xmpp:chat-markers:0", "markable"}}, NULL},
    {"chat", 1, {{"urn:xmpp:hints", "no-store"}}, NULL},
};

static xmlDictPtr names;
static const char *intern(const void *name) { return name ? (const char *)xmlDictLookup(names, name, -1) : NULL; }

// The nodes lie side by side in document order, as written by a parser.
static node *arena;
static attribute *attributes;

static node *convert(xmlNodePtr source) {
    node *result = arena++;
    *result = (node){.name = intern(source->name), .namespace = intern(source->ns->href), .attributes = attributes};
    for (xmlAttrPtr from = source->properties; from; from = from->next) {
        const char *value = from->children ? strdup((const char *)from->children->content) : "";
        *attributes++ = (attribute){intern(from->name), value, strlen(value)};
        result->attribute_count++;
    }
    node **end = &result->first;
    for (xmlNodePtr child = source->children; child; child = child->next) {
        if (child->type == XML_TEXT_NODE) result->text_length += strlen((const char *)child->content);
        if (child->type != XML_ELEMENT_NODE) continue;
        *end = convert(child);
        end = &(*end)->next;
    }
    return result;
}

static inline attribute *find_attribute(node *of, const char *name) {
    for (size_t place = 0; place < of->attribute_count; place++)
        if (of->attributes[place].name == name) return &of->attributes[place];
    return NULL;
}

static inline int fits(const step *wanted, node *candidate) {
    if (candidate->name != wanted->name || candidate->namespace != wanted->namespace) return 0;
    if (!wanted->attribute) return 1;
    attribute *found = find_attribute(candidate, wanted->attribute);
    return found && found->length == strlen(wanted->value) && !memcmp(found->value, wanted->value, found->length);
}

static node *walk(const query *asked, node *parent, int place) {
    for (node *child = parent->first; child; child = child->next) {
        if (!fits(&asked->steps[place], child)) continue;
        if (place + 1 == asked->count) return child;
        node *found = walk(asked, child, place + 1);
        if (found) return found;
    }
    return NULL;
}

// Whether there is a result; adds the result's length to `length`.
static int ask(const query *asked, node *stanza, size_t *length) {
    node *found = asked->count ? walk(asked, stanza, 0) : stanza;
    if (!found || !asked->wanted) return found != NULL;
    if (*asked->wanted == '#') {
        *length += found->text_length;
        return found->text_length > 0;
    }
    attribute *value = find_attribute(found, asked->wanted);
    if (value) *length += value->length;
    return value != NULL;
}

static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int count, char **arguments) {
    if (count < 3) return 64;
    int passes = atoi(arguments[2]);
    names = xmlDictCreate();
    for (int number = 0; number < 10; number++) {
        query *asked = &queries[number];
        for (int place = 0; place < asked->count; place++) {
            step *at = &asked->steps[place];
            at->namespace = intern(at->namespace), at->name = intern(at->name), at->attribute = intern(at->attribute);
        }
        if (asked->wanted && *asked->wanted != '#') asked->wanted = intern(asked->wanted);
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.xml", arguments[1], asked->kind);
        xmlDocPtr document = xmlReadFile(path, NULL, XML_PARSE_NOENT | XML_PARSE_NONET | XML_PARSE_NOWARNING);
        if (!document) return 1;
        arena = malloc(100000 * sizeof *arena), attributes = malloc(100000 * sizeof *attributes);
        node *stream = convert(xmlDocGetRootElement(document)), *stanzas[1000];
        size_t stanza_count = 0, hits = 0, length = 0;
        for (node *child = stream->first; child && stanza_count < 1000; child = child->next)
            stanzas[stanza_count++] = child;
        double start = 0;
        for (int pass = -passes / 10; pass < passes; pass++) {
            if (pass == 0) hits = 0, length = 0, start = nanoseconds();
            for (size_t place = 0; place < stanza_count; place++) hits += ask(asked, stanzas[place], &length);
        }
        double spent = (nanoseconds() - start) / passes / stanza_count;
        printf("{\"query\":\"Q%d\",\"how\":\"walk\",\"ns\":%.3f,\"hits\":%zu,\"length\":%zu}\n", number + 1, spent,
               hits / passes, length / passes);
        xmlFreeDoc(document);
    }
}
