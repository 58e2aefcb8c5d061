#include <unicode/uspoof.h>

// The names of ICU's functions have its version, by macros that Swift does not see.

static inline USpoofChecker *kalij_spoof_checker(void) {
    UErrorCode error = U_ZERO_ERROR;
    USpoofChecker *checker = uspoof_open(&error);
    return U_SUCCESS(error) ? checker : NULL;
}

// The length of the skeleton; -1 if it does not fit.
static inline int32_t kalij_skeleton(
    const USpoofChecker *checker, const char *text, int32_t length, char *skeleton, int32_t capacity) {
    UErrorCode error = U_ZERO_ERROR;
    int32_t count = uspoof_getSkeletonUTF8(checker, 0, text, length, skeleton, capacity, &error);
    return U_SUCCESS(error) && count <= capacity ? count : -1;
}
