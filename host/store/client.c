/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a store and asks it. */

#include "store/client.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/answer.h"
#include "store/embedded.h"
#include "store/prune.h"
#include "store/store.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_SECONDS 300
#define START_SECONDS 60
#define SQL_MAX (256u << 10) /* max_query_size */

static char *own_host(void)
{
    char name[256] = "";

    (void)gethostname(name, sizeof name - 1);
    return xstrdup(name);
}

struct store_server store_server(struct store *store, unsigned shard)
{
    struct store_server server;

    pthread_mutex_lock(&store->lock);
    server = store->servers[shard];
    pthread_mutex_unlock(&store->lock);
    return server;
}

static bool start_embedded(struct store *store, char *why)
{
    const char *folder = store->address.folder;

    if (folder == NULL)
        return true;
    if (!store->options.create && access(folder, F_OK) != 0) {
        snprintf(why, STORE_WHY, "%s: there is no such store", folder);
        return false;
    }
    return embedded_start(folder, START_SECONDS, why, STORE_WHY);
}

bool store_reach(struct store *store, unsigned shard, struct store_http *http,
                 char *why)
{
    const struct store_address *address = &store->address;
    struct store_server server;
    struct store_reply reply;

    if (!start_embedded(store, why))
        return false;
    if (!schema_ask(http, &server, &reply)) {
        snprintf(why, STORE_WHY, "%s: %s%s",
                 address->folder != NULL ? address->name
                                         : address->hosts[shard],
                 reply.code == 193 || reply.code == 516 || reply.status == 401
                     ? "wrong user or password: "
                     : "",
                 reply.text);
        return false;
    }
    if (!schema_ensure(http, address, &server, shard, store->options.create,
                       why, STORE_WHY))
        return false;
    pthread_mutex_lock(&store->lock);
    store->servers[shard] = server;
    pthread_mutex_unlock(&store->lock);
    return true;
}

/* The asker's connection to a server. */
static struct store_http *connection_to(struct store *store, unsigned shard)
{
    if (store->https[shard] == NULL)
        store->https[shard] =
            store_http_open(&store->address, shard, store->seconds);
    return store->https[shard];
}

static bool reach_all(struct store *store, char *why)
{
    for (unsigned i = 0; i < store->address.count; ++i)
        if (!store_reach(store, i, connection_to(store, i), why))
            return false;
    return true;
}

struct store *store_open(const char *address,
                         const struct store_options *options, char *why)
{
    struct store *store = xreallocarray(NULL, 1, sizeof *store);
    bool fine;

    *store = (struct store){.options = *options};
    pthread_mutex_init(&store->lock, NULL);
    signal(SIGPIPE, SIG_IGN);
    store->seconds = options->seconds > 0 ? options->seconds : ANSWER_SECONDS;
    store->host = options->host != NULL ? xstrdup(options->host) : own_host();
    fine = store_address_parse(&store->address, address, why, STORE_WHY);
    if (fine) {
        size_t count = store->address.count;

        store->https = xreallocarray(NULL, count, sizeof *store->https);
        memset(store->https, 0, count * sizeof *store->https);
        store->servers = xreallocarray(NULL, count, sizeof *store->servers);
        memset(store->servers, 0, count * sizeof *store->servers);
        /* the spool may be in it */
        if (store->address.folder != NULL && options->create)
            (void)mkdir(store->address.folder, 0700);
        if (!options->may_wait || options->spool == NULL)
            fine = reach_all(store, why);
    }
    if (fine && options->spool != NULL) {
        store->sender = sender_open(store, why);
        fine = store->sender != NULL;
    }
    if (fine)
        return store;
    store_close(store);
    return NULL;
}

void store_close(struct store *store)
{
    if (store->sender != NULL)
        sender_close(store->sender);
    for (unsigned i = 0; store->https != NULL && i < store->address.count; ++i)
        store_http_close(store->https[i]);
    free(store->https);
    free(store->servers);
    free(store->host);
    store_address_free(&store->address);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

const char *store_name(const struct store *store)
{
    return store->address.name;
}

const char *store_version(const struct store *store)
{
    return store->servers[0].version;
}

unsigned store_shards(const struct store *store)
{
    return store->address.count;
}

char *store_own_table(const struct store *store, enum store_table table)
{
    return schema_local_name(table, &store->address);
}

/* ---- asking */

static bool query_by(struct store *store, struct store_http *http,
                     const char *sql, const char *format, store_take_fn *take,
                     void *owner, char *why)
{
    struct store_request request = {
        .text = sql, .file = -1, .take = take, .owner = owner};
    struct store_server server;
    struct store_reply reply;
    char *parameters;
    bool fine, reads;

    if (strlen(sql) > SQL_MAX) {
        snprintf(why, STORE_WHY, "the query has more than 256 KiB");
        return false;
    }
    server = store_server(store, 0);
    if (server.version[0] == '\0') {
        if (!store_reach(store, 0, http, why))
            return false;
        server = store_server(store, 0);
    }
    /* what GET would mean; POST, as proxies keep answers to the other. A user
     * who only reads may not say so */
    reads = !store->options.change && !server.only_reads;
    parameters = text_format("database=%s&default_format=%s"
                             "&wait_end_of_query=1%s",
                             store->address.database, format,
                             reads ? "&readonly=2" : "");
    request.parameters = parameters;
    fine = store_http_ask(http, &request, &reply);
    /* an embedded store ends when nobody asked it for a while */
    if (!fine && reply.status == 0 && !reply.stopped &&
        store->address.folder != NULL && start_embedded(store, why))
        fine = store_http_ask(http, &request, &reply);
    free(parameters);
    if (!fine && !reply.stopped)
        snprintf(why, STORE_WHY, "%s: %s", store->address.name, reply.text);
    else if (!fine)
        snprintf(why, STORE_WHY, "%s: the answer was not taken",
                 store->address.name);
    return fine;
}

bool store_query(struct store *store, const char *sql, const char *format,
                 store_take_fn *take, void *owner, char *why)
{
    return query_by(store, connection_to(store, 0), sql, format, take, owner,
                    why);
}

static bool ask_by(struct store *store, struct store_http *http,
                   const char *sql, struct store_answer *answer, char *why)
{
    struct answer_reader reader = {.answer = answer};
    bool fine, whole;

    *answer = (struct store_answer){0};
    fine = query_by(store, http, sql, "TabSeparatedWithNamesAndTypes",
                    answer_take, &reader, why);
    whole = answer_end(&reader);
    if (fine && !whole)
        snprintf(why, STORE_WHY, "%s: an answer that is not ClickHouse's",
                 store->address.name);
    return fine && whole;
}

bool store_ask(struct store *store, const char *sql,
               struct store_answer *answer, char *why)
{
    return ask_by(store, connection_to(store, 0), sql, answer, why);
}

struct store_question {
    struct store *store;
    char *sql;
    struct store_answer answer;
    char why[STORE_WHY];
    bool fine;
    pthread_t thread;
};

static void *run_question(void *owner)
{
    struct store_question *question = owner;
    struct store *store = question->store;
    struct store_http *http =
        store_http_open(&store->address, 0, store->seconds);

    question->fine =
        ask_by(store, http, question->sql, &question->answer, question->why);
    store_http_close(http);
    return NULL;
}

struct store_question *store_ask_begin(struct store *store, const char *sql)
{
    struct store_question *question = xreallocarray(NULL, 1, sizeof *question);

    *question = (struct store_question){.store = store, .sql = xstrdup(sql)};
    if (pthread_create(&question->thread, NULL, run_question, question) != 0)
        die("a thread cannot be started");
    return question;
}

bool store_ask_end(struct store_question *question, struct store_answer *answer,
                   char *why)
{
    bool fine;

    pthread_join(question->thread, NULL);
    *answer = question->answer;
    memcpy(why, question->why, STORE_WHY);
    fine = question->fine;
    free(question->sql);
    free(question);
    return fine;
}

/* ---- dropping what is old */

bool store_prune(struct store *store, double seconds, store_pruned_fn *took,
                 void *owner, char *why)
{
    uint32_t first = prune_first_day(seconds);
    struct store_reply reply;

    for (unsigned i = 0; i < store->address.count; ++i)
        if (!prune_server(connection_to(store, i), &store->address, i, first,
                          took, owner, &reply)) {
            snprintf(why, STORE_WHY, "%s: %s",
                     store->address.folder != NULL ? store->address.name
                                                   : store->address.hosts[i],
                     reply.text);
            return false;
        }
    return true;
}
