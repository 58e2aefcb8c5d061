#pragma once
#include <http_parser.h>

/* Bit fields, unavailable in Swift. */
static inline int kalij_http_status(const http_parser *parser) { return (int)parser->status_code; }
static inline int kalij_http_error(const http_parser *parser) { return (int)HTTP_PARSER_ERRNO(parser); }
static inline int kalij_http_upgrades(const http_parser *parser) { return (int)parser->upgrade; }
