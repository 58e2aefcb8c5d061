#include "CSkeleton.h"

#include <unicode/uspoof.h>

struct SpoofChecker *kalij_spoof_checker(void) {
    UErrorCode error = U_ZERO_ERROR;
    USpoofChecker *checker = uspoof_open(&error);
    return U_SUCCESS(error) ? (struct SpoofChecker *)checker : NULL;
}

int32_t kalij_skeleton(
    const struct SpoofChecker *checker, const char *text, int32_t length, char *skeleton, int32_t capacity) {
    UErrorCode error = U_ZERO_ERROR;
    int32_t count =
        uspoof_getSkeletonUTF8((const USpoofChecker *)checker, 0, text, length, skeleton, capacity, &error);
    return U_SUCCESS(error) && count <= capacity ? count : -1;
}
