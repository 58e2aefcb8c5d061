#pragma once
// Debian's libxml2 was built with ICU and its headers include ICU's. Their types contradict the types of the ICU inside
// Foundation: a file with both imports could not be compiled. ICU only adds the last fields of a structure that is not
// used here.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>

// libxml2 writes a message for each warning, for example for a namespace that is no URI, and a parser of XMPP needs no
// warnings. The switch belongs to the thread: the caller restores the old value.
static inline int kalij_xml_exchange_warnings(int wanted) {
    int before = xmlGetWarningsDefaultValue;
    xmlGetWarningsDefaultValue = wanted;
    return before;
}
