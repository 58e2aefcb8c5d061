#pragma once
#include <nghttp2/nghttp2.h>
#include <time.h>

/* HTTP's dates. The C library has it, but declares it for _XOPEN_SOURCE alone, which Swift's module of it is built without. */
extern char *strptime(const char *__restrict text, const char *__restrict format, struct tm *__restrict fields);
static inline char *kalij_strptime(const char *text, const char *format, struct tm *fields) {
    return strptime(text, format, fields);
}
