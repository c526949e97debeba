/* SPDX-License-Identifier: Apache-2.0 */

#define _GNU_SOURCE

#include "store/engine.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* chDB's C interface, version 26.5. The connection is what chdb_connect()
 * returns a pointer to. */
typedef void *chdb_connection;
typedef void chdb_result;

struct chdb {
    chdb_connection *(*connect)(int argc, char **argv);
    void (*close)(chdb_connection *connection);
    chdb_result *(*query)(chdb_connection connection, const char *sql,
                          size_t sql_bytes, const char *format,
                          size_t format_bytes);
    void (*destroy)(chdb_result *result);
    char *(*buffer)(chdb_result *result);
    size_t (*length)(chdb_result *result);
    const char *(*error)(chdb_result *result);
    void (*set_signal_handlers)(int enabled); /* or NULL */
};

/* So many queries run at a time: some write, the others only read. */
#define WRITERS 2
#define CONNECTIONS 6
#define DATABASE_MAX 128
#define NO_CONNECTION 210 /* ClickHouse's number of it */

struct connection {
    chdb_connection *chdb;
    char database[DATABASE_MAX];
    bool busy;
};

struct engine {
    struct chdb chdb;
    struct connection connections[CONNECTIONS];
    pthread_mutex_t lock; /* of (busy) */
    pthread_cond_t freed;
    pthread_mutex_t opening; /* a connection, as signals are shared */
    char *path;
};

/* ---- the library */

/* Its file: build/chdb/libchdb.so for build/host/parasite, lib/parasite/ for
 * bin/parasite; "libchdb.so" = where the linker looks. To be freed. */
static char *library_path(void)
{
    static const char *const places[] = {"../chdb/libchdb.so",
                                         "../lib/parasite/libchdb.so"};
    const char *named = getenv("PARASITE_CHDB");
    char command[4096];
    ssize_t length = readlink("/proc/self/exe", command, sizeof command - 1);

    if (named != NULL && *named != '\0')
        return xstrdup(named);
    command[length > 0 ? length : 0] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        char *path = text_format("%.*s%s", (int)(path_name(command) - command),
                                 command, places[i]);

        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return xstrdup("libchdb.so");
}

static void *load_library(char *why, size_t room)
{
    char *path = library_path();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL && strchr(path, '/') != NULL)
        snprintf(why, room, "%s", dlerror());
    else if (library == NULL)
        snprintf(why, room,
                 "the embedded store needs libchdb.so, which is not there: "
                 "'make store' fetches it, PARASITE_CHDB=PATH names another");
    free(path);
    return library;
}

bool engine_may_be_there(char *why, size_t room)
{
    char *path = library_path();
    bool fine = access(path, R_OK) == 0;

    /* without loading it, which takes a moment */
    if (!fine && strchr(path, '/') != NULL)
        snprintf(why, room, "%s: %s", path, strerror(errno));
    else if (!fine)
        fine = load_library(why, room) != NULL;
    free(path);
    return fine;
}

static bool find_calls(void *library, struct chdb *chdb, char *why, size_t room)
{
    const struct {
        const char *name;
        void **call;
    } calls[] = {
        {"chdb_connect", (void **)&chdb->connect},
        {"chdb_close_conn", (void **)&chdb->close},
        {"chdb_query_n", (void **)&chdb->query},
        {"chdb_destroy_query_result", (void **)&chdb->destroy},
        {"chdb_result_buffer", (void **)&chdb->buffer},
        {"chdb_result_length", (void **)&chdb->length},
        {"chdb_result_error", (void **)&chdb->error},
    };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        *calls[i].call = dlsym(library, calls[i].name);
        if (*calls[i].call != NULL)
            continue;
        snprintf(why, room,
                 "libchdb.so has no %s: its version is not one "
                 "that is known (26.5 is)",
                 calls[i].name);
        return false;
    }
    *(void **)&chdb->set_signal_handlers =
        dlsym(library, "chdb_set_signal_handlers_enabled");
    return true;
}

/* ---- connections */

/* The engine's calls set signals' handlers, or reset them to the default. */
static const int taken[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS,
                            SIGFPE, SIGSEGV, SIGTSTP, SIGSYS};
#define TAKEN (sizeof taken / sizeof *taken)

static chdb_connection *connect_one(struct engine *engine)
{
    char *word = text_format("--path=%s", engine->path);
    char *words[] = {(char *)"clickhouse", word, NULL};
    struct sigaction before[TAKEN];
    chdb_connection *chdb;

    pthread_mutex_lock(&engine->opening);
    for (size_t i = 0; i < TAKEN; ++i)
        sigaction(taken[i], NULL, &before[i]);
    chdb = engine->chdb.connect(2, words);
    for (size_t i = 0; i < TAKEN; ++i)
        sigaction(taken[i], &before[i], NULL);
    pthread_mutex_unlock(&engine->opening);
    free(word);
    return chdb;
}

static bool connect_all(struct engine *engine)
{
    if (engine->chdb.set_signal_handlers != NULL)
        engine->chdb.set_signal_handlers(0);
    for (unsigned i = 0; i < CONNECTIONS; ++i) {
        engine->connections[i].chdb = connect_one(engine);
        if (engine->connections[i].chdb == NULL)
            return false;
    }
    return true;
}

static void take_result(const struct chdb *chdb, chdb_result *result,
                        struct engine_answer *answer)
{
    const char *error = result == NULL ? "no answer" : chdb->error(result);

    *answer = (struct engine_answer){.handle = result};
    if (error != NULL && *error != '\0') {
        const char *number = strstr(error, "Code: ");

        answer->bytes = error;
        answer->count = strlen(error);
        answer->code = number == NULL ? -1 : atoi(number + strlen("Code: "));
        if (answer->code == 0)
            answer->code = -1;
    } else {
        answer->bytes = chdb->buffer(result);
        answer->count = answer->bytes == NULL ? 0 : chdb->length(result);
    }
}

static void query_on(const struct chdb *chdb, struct connection *connection,
                     const char *sql, size_t bytes, const char *format,
                     struct engine_answer *answer)
{
    take_result(
        chdb,
        chdb->query(*connection->chdb, sql, bytes, format, strlen(format)),
        answer);
}

static bool run_plain(struct engine *engine, struct connection *connection,
                      const char *sql)
{
    struct engine_answer answer;
    bool fine;

    query_on(&engine->chdb, connection, sql, strlen(sql), "Null", &answer);
    fine = answer.code == 0;
    if (!fine)
        log_error("%s: %.*s", sql, (int)answer.count, answer.bytes);
    engine_answer_free(engine, &answer);
    return fine;
}

/* Those after WRITERS only read, in larger blocks than by default (65,409 rows,
 * 1 MB): sums of many rows take a tenth less CPU time. */
static bool set_up_reader(struct engine *engine, struct connection *connection)
{
    return run_plain(engine, connection,
                     "SET max_block_size = 262144, "
                     "preferred_block_size_bytes = 16777216, readonly = 2");
}

struct engine *engine_open(const char *path, char *why, size_t room)
{
    struct engine *engine;
    void *library = load_library(why, room);
    int null;

    if (library == NULL)
        return NULL;
    null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null > 0) {
        dup2(null, 0);
        close(null);
    }
    engine = xreallocarray(NULL, 1, sizeof *engine);
    *engine = (struct engine){.lock = PTHREAD_MUTEX_INITIALIZER,
                              .freed = PTHREAD_COND_INITIALIZER,
                              .opening = PTHREAD_MUTEX_INITIALIZER,
                              .path = xstrdup(path)};
    if (!find_calls(library, &engine->chdb, why, room)) {
        engine_close(engine);
        return NULL;
    }
    if (!connect_all(engine)) {
        snprintf(why, room,
                 "%s: the engine does not open it: it belongs to another "
                 "process, or it is not a store",
                 path);
        engine_close(engine);
        return NULL;
    }
    for (unsigned i = WRITERS; i < CONNECTIONS; ++i)
        if (!set_up_reader(engine, &engine->connections[i])) {
            snprintf(why, room, "%s: the engine has no readonly", path);
            engine_close(engine);
            return NULL;
        }
    return engine;
}

void engine_close(struct engine *engine)
{
    for (unsigned i = 0; i < CONNECTIONS; ++i)
        if (engine->connections[i].chdb != NULL)
            engine->chdb.close(engine->connections[i].chdb);
    free(engine->path);
    free(engine);
}

/* ---- queries */

static struct connection *connection_take(struct engine *engine, bool read_only)
{
    unsigned first = read_only ? WRITERS : 0;
    unsigned end = read_only ? CONNECTIONS : WRITERS;
    struct connection *found = NULL;

    pthread_mutex_lock(&engine->lock);
    while (found == NULL) {
        for (unsigned i = first; i < end && found == NULL; ++i)
            if (!engine->connections[i].busy)
                found = &engine->connections[i];
        if (found == NULL)
            pthread_cond_wait(&engine->freed, &engine->lock);
    }
    found->busy = true;
    pthread_mutex_unlock(&engine->lock);
    return found;
}

static void connection_release(struct engine *engine,
                               struct connection *connection)
{
    pthread_mutex_lock(&engine->lock);
    connection->busy = false;
    pthread_cond_broadcast(&engine->freed);
    pthread_mutex_unlock(&engine->lock);
}

/* Makes (database) the connection's; if that fails, (answer) says why. */
static bool use_database(struct engine *engine, struct connection *connection,
                         const char *database, struct engine_answer *answer)
{
    char sql[DATABASE_MAX + 16];

    if (strcmp(connection->database, database) == 0)
        return true;
    snprintf(sql, sizeof sql, "USE `%s`", database);
    query_on(&engine->chdb, connection, sql, strlen(sql), "Null", answer);
    if (answer->code != 0)
        return false;
    engine_answer_free(engine, answer);
    snprintf(connection->database, sizeof connection->database, "%s", database);
    return true;
}

/* Whether a statement changes nothing of its connection, as USE, SET and
 * temporary tables do: one SELECT or INSERT. A ';' may begin another one, or be
 * in a text; then it is not said of it. */
static bool leaves_nothing(const char *sql, size_t bytes)
{
    static const char *const words[] = {"SELECT", "INSERT", "DESCRIBE"};
    const char *end = sql + bytes;

    while (end > sql && strchr(" \t\r\n;", end[-1]) != NULL)
        --end;
    while (sql < end && strchr(" \t\r\n(", *sql) != NULL)
        ++sql;
    if (memchr(sql, ';', (size_t)(end - sql)) != NULL)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        size_t count = strlen(words[i]);

        if ((size_t)(end - sql) > count &&
            strncasecmp(sql, words[i], count) == 0 &&
            strchr(" \t\r\n(", sql[count]) != NULL)
            return true;
    }
    return false;
}

/* Opens it anew, without what a statement has left in it. One that cannot be
 * opened is tried again when it is needed. */
static void renew(struct engine *engine, struct connection *connection)
{
    chdb_connection *fresh = connect_one(engine);

    if (connection->chdb != NULL)
        engine->chdb.close(connection->chdb);
    connection->chdb = fresh;
    connection->database[0] = '\0';
    if (fresh != NULL && connection >= &engine->connections[WRITERS] &&
        !set_up_reader(engine, connection)) {
        engine->chdb.close(fresh);
        connection->chdb = NULL;
    }
}

void engine_query(struct engine *engine, const char *database, bool read_only,
                  const char *sql, size_t bytes, const char *format,
                  struct engine_answer *answer)
{
    struct connection *connection = connection_take(engine, read_only);

    if (connection->chdb == NULL)
        renew(engine, connection);
    if (connection->chdb == NULL)
        *answer = (struct engine_answer){"no connection to the engine",
                                         strlen("no connection to the engine"),
                                         NO_CONNECTION, NULL};
    else if (strlen(database) >= DATABASE_MAX ||
             strpbrk(database, "`\\") != NULL)
        *answer = (struct engine_answer){"no such database",
                                         strlen("no such database"), 81, NULL};
    else if (use_database(engine, connection, database, answer))
        query_on(&engine->chdb, connection, sql, bytes, format, answer);
    if (!leaves_nothing(sql, bytes))
        renew(engine, connection);
    connection_release(engine, connection);
}

void engine_answer_free(struct engine *engine, struct engine_answer *answer)
{
    if (answer->handle != NULL)
        engine->chdb.destroy(answer->handle);
    *answer = (struct engine_answer){0};
}
