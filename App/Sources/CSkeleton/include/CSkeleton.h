// What names that look alike have in common (UTS #39 section 4), by ICU. ICU's own headers stay in skeleton.c: Foundation brings others of
// another version, and a Swift module that sees both does not compile.
#include <stdint.h>

struct SpoofChecker;

// Null if ICU has no data.
struct SpoofChecker *kalij_spoof_checker(void);

// The length of the skeleton in bytes; -1 if it does not fit.
int32_t kalij_skeleton(
    const struct SpoofChecker *checker, const char *text, int32_t length, char *skeleton, int32_t capacity);
