/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_ENGINE_H
#define STORE_ENGINE_H

/*
 * ClickHouse's engine in this process: chDB, a library found at run time, which
 * stores to a folder. It has one owner, a process, and starts threads: a child
 * of fork() must not use it.
 */

#include <stdbool.h>
#include <stddef.h>

struct engine;

/*
 * Loads the library, that of PARASITE_CHDB or else chdb/libchdb.so beside this
 * command's folder or where the linker finds it, and opens (path), which is
 * absolute. NULL, and a line in (why) of (room) bytes: there is none, or it
 * does not open the folder.
 *
 * fd 0 becomes /dev/null, as the engine would read it. Signals' handlers of the
 * process are as before.
 */
struct engine *engine_open(const char *path, char *why, size_t room);
void engine_close(struct engine *engine);

/* Whether a file of that name is there, without loading it; a line in (why) of
 * (room) bytes if not. */
bool engine_may_be_there(char *why, size_t room);

struct engine_answer {
    const char *bytes; /* its result, or what is wrong */
    size_t count;
    int code;     /* of the error, 0 = none, -1 = one without a number */
    void *handle; /* what it lives in */
};

/* Runs (sql) in (database), with its answer in (format) unless it says another.
 * Any thread may call it; as many run at a time as there are connections, the
 * others wait. With (read_only) it may change nothing. What a statement leaves
 * in its session, as USE and SET do, is gone when it ends. */
void engine_query(struct engine *engine, const char *database, bool read_only,
                  const char *sql, size_t bytes, const char *format,
                  struct engine_answer *answer);
void engine_answer_free(struct engine *engine, struct engine_answer *answer);

#endif
