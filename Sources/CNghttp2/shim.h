#pragma once
#include <nghttp2/nghttp2.h>
#include <time.h>

/* HTTP's dates. The C library declares strptime for _XOPEN_SOURCE alone, and Swift's module of the library is built without. */
extern char *strptime(const char *__restrict text, const char *__restrict format, struct tm *__restrict fields);
static inline char *kalij_strptime(const char *text, const char *format, struct tm *fields) {
    return strptime(text, format, fields);
}
