#include <stddef.h>
#include <stdint.h>

/// libFuzzer's own main function, linked by `-sanitize=fuzzer`.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*body)(const uint8_t *start, size_t count));
