#pragma once
#include <hiredis/hiredis.h>

/* hiredis makes room for as many values as a reply announces. More than this is refused before. */
enum { KALIJ_REDIS_VALUES = 20000 };

static inline void *kalij_redis_array(const redisReadTask *task, int count) {
    redisReplyObjectFunctions *usual = task->privdata;
    return count > KALIJ_REDIS_VALUES ? NULL : usual->createArray(task, count);
}

/* A reader with hiredis's usual functions but one; `functions` has to outlive the reader. */
static inline redisReader *kalij_redis_reader(redisReplyObjectFunctions *functions) {
    redisReader *reader = redisReaderCreate();
    if (!reader) return NULL;
    *functions = *reader->fn;
    functions->createArray = kalij_redis_array;
    reader->privdata = reader->fn;
    reader->fn = functions;
    return reader;
}
