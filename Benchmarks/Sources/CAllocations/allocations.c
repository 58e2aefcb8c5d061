#include "allocations.h"
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

// Stand before glibc's functions of the same names, for every library of the process, and count.
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
static atomic_long count;

long kalij_allocation_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }
static void one(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }

void *malloc(size_t size) { one(); return __libc_malloc(size); }
void *calloc(size_t many, size_t size) { one(); return __libc_calloc(many, size); }
void *realloc(void *block, size_t size) { one(); return __libc_realloc(block, size); }
void *memalign(size_t alignment, size_t size) { one(); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { one(); return __libc_memalign(alignment, size); }
int posix_memalign(void **block, size_t alignment, size_t size) {
    one();
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}
