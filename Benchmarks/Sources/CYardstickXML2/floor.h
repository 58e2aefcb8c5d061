#pragma once
#include <libxml/parser.h>
#include <string.h>
#include <time.h>

// The floor: libxml2's push parser with callbacks that only count.
struct floor_counts { long elements, text; };
static inline struct floor_counts *floor_of(void *c) { return (struct floor_counts *)((xmlParserCtxtPtr)c)->_private; }
static void floor_start(void *c, const xmlChar *n, const xmlChar *p, const xmlChar *u, int ns, const xmlChar **s, int na,
                        int nd, const xmlChar **a) { floor_of(c)->elements++; }
static void floor_end(void *c, const xmlChar *n, const xmlChar *p, const xmlChar *u) {}
static void floor_characters(void *c, const xmlChar *s, int n) { floor_of(c)->text += n; }

// Parses everything in chunks; returns the number of elements, or -1.
static inline long floor_parse(const char *bytes, long count, int chunk) {
    xmlSAXHandler handler;
    memset(&handler, 0, sizeof handler);
    handler.initialized = XML_SAX2_MAGIC;
    handler.startElementNs = floor_start;
    handler.endElementNs = floor_end;
    handler.characters = floor_characters;
    struct floor_counts counts = {0, 0};
    xmlParserCtxtPtr context = xmlCreatePushParserCtxt(&handler, NULL, NULL, 0, NULL);
    context->_private = &counts;
    xmlCtxtUseOptions(context, XML_PARSE_HUGE | XML_PARSE_NONET | XML_PARSE_NOENT);
    for (long at = 0; at < count; at += chunk)
        if (xmlParseChunk(context, bytes + at, count - at < chunk ? (int)(count - at) : chunk, 0)) return -1;
    xmlParseChunk(context, NULL, 0, 1);
    xmlFreeParserCtxt(context);
    return counts.elements;
}

static inline double floor_cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
