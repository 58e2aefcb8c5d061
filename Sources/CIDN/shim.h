#pragma once
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <stringprep.h>
#include <idna.h>

// The profiles are arrays of unknown size, which Swift cannot name. Each function prepares the string in `in` in place
// (`capacity` bytes, with the terminating zero) and returns a Stringprep_rc. Code points unknown to Unicode 3.2 are
// allowed, as in XMPP servers.
static inline int cidn_nodeprep(char *in, size_t capacity) {
    return stringprep(in, capacity, (Stringprep_profile_flags)0, stringprep_xmpp_nodeprep);
}
static inline int cidn_nameprep(char *in, size_t capacity) {
    return stringprep(in, capacity, (Stringprep_profile_flags)0, stringprep_nameprep);
}
static inline int cidn_resourceprep(char *in, size_t capacity) {
    return stringprep(in, capacity, (Stringprep_profile_flags)0, stringprep_xmpp_resourceprep);
}
static inline int cidn_saslprep(char *in, size_t capacity) {
    return stringprep(in, capacity, (Stringprep_profile_flags)0, stringprep_saslprep);
}
