#pragma once
// Debian's libxml2 was built with ICU and its headers include ICU's, whose types contradict those of the ICU inside
// Foundation: who imports both could not be compiled. What they add are the last fields of a structure that is not used here.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>

// libxml2 writes a message for each warning, such as one for a namespace that is no URI, and a parser of XMPP needs
// none. The switch belongs to the thread: the caller puts back what was there.
static inline int kalij_xml_exchange_warnings(int wanted) {
    int before = xmlGetWarningsDefaultValue;
    xmlGetWarningsDefaultValue = wanted;
    return before;
}
