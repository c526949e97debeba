/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of queries. In them @where@ is the choice, @identity@ the same for
 * the table of guests, and @NAME@ or @NAME COLUMN@ is another file, in which
 * @key@ is that column with a comma: without one, what it is where the mark
 * stands.
 */

#include "fleet/fleet.h"

#include "base/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DAY_LENGTH 10 /* of "2026-11-02 10:00:00" */

struct fleet_query {
    const char *name; /* NULL = the end */
    const char *begin, *end;
};

extern const struct fleet_query fleet_queries[];

struct text {
    const struct fleet *fleet;
    FILE *out;
};

static const struct fleet_query *find_query(const char *name, size_t bytes)
{
    const struct fleet_query *query = fleet_queries;

    while (query->name != NULL && (strlen(query->name) != bytes ||
                                   memcmp(query->name, name, bytes) != 0))
        ++query;
    if (query->name == NULL)
        die("there is no query '%.*s'", (int)bytes, name);
    return query;
}

static void put_service(const struct text *text)
{
    char quoted[1024];

    if (text->fleet->service == NULL)
        fputs("1", text->out);
    else
        fprintf(text->out, "service = %s",
                store_quote(text->fleet->service, quoted, sizeof quoted));
}

/* Days, too: they are what tables are divided by. Each condition takes time for
 * each row, so two are one where they can be. */
static void put_where(const struct text *text)
{
    const struct fleet *fleet = text->fleet;
    char since[FLEET_TIME_MAX], until[FLEET_TIME_MAX];

    fleet_time_text(fleet->since, since);
    fleet_time_text(fleet->until, until);
    fputc('(', text->out);
    put_service(text);
    if (strncmp(since, until, DAY_LENGTH) == 0)
        fprintf(text->out, " AND day = '%.*s'", DAY_LENGTH, since);
    else
        fprintf(text->out, " AND day >= '%.*s' AND day <= '%.*s'", DAY_LENGTH,
                since, DAY_LENGTH, until);
    fprintf(text->out,
            " AND bucket >= toDateTime(%" PRIu32 ") AND "
            "bucket < toDateTime(%" PRIu32 ")",
            fleet->since, fleet->until);
    for (unsigned i = 0; i < fleet->build_count; ++i)
        fprintf(text->out, "%sbuild = toFixedString(unhex('%s'), %d)%s",
                i == 0 ? " AND (" : " OR ", fleet->builds[i], STORE_BUILD_BYTES,
                i + 1 == fleet->build_count ? ")" : "");
    fputc(')', text->out);
}

static void put_query(const struct text *text, const struct fleet_query *query,
                      const char *key, size_t key_bytes);

/* What stands between two marks. */
static void put_mark(const struct text *text, const char *mark, size_t bytes,
                     const char *key, size_t key_bytes)
{
    const char *space = memchr(mark, ' ', bytes);
    size_t name = space != NULL ? (size_t)(space - mark) : bytes;

    if (bytes == 3 && memcmp(mark, "key", 3) == 0) {
        if (key_bytes > 0)
            fprintf(text->out, "%.*s,", (int)key_bytes, key);
    } else if (bytes == 5 && memcmp(mark, "where", 5) == 0) {
        put_where(text);
    } else if (bytes == 8 && memcmp(mark, "identity", 8) == 0) {
        put_service(text);
    } else {
        put_query(text, find_query(mark, name), space != NULL ? space + 1 : key,
                  space != NULL ? bytes - name - 1 : key_bytes);
    }
}

static void put_query(const struct text *text, const struct fleet_query *query,
                      const char *key, size_t key_bytes)
{
    const char *at = query->begin;

    while (at < query->end) { /* comments in front of it */
        const char *end = memchr(at, '\n', (size_t)(query->end - at));

        if (strncmp(at, "--", 2) != 0 || end == NULL)
            break;
        at = end + 1;
    }
    while (at < query->end) {
        const char *mark = memchr(at, '@', (size_t)(query->end - at));
        const char *end = mark != NULL ? memchr(mark + 1, '@',
                                                (size_t)(query->end - mark - 1))
                                       : NULL;

        if (end == NULL) {
            fwrite(at, 1, (size_t)(query->end - at), text->out);
            return;
        }
        fwrite(at, 1, (size_t)(mark - at), text->out);
        put_mark(text, mark + 1, (size_t)(end - mark - 1), key, key_bytes);
        at = end + 1;
    }
}

static char *sql_of(const struct fleet *fleet, const char *name)
{
    struct text text = {fleet, NULL};
    char *sql;
    size_t bytes;

    text.out = open_memstream(&sql, &bytes);
    if (text.out == NULL)
        die("out of memory");
    put_query(&text, find_query(name, strlen(name)), "", 0);
    if (fclose(text.out) != 0)
        die("out of memory");
    return sql;
}

/* Says once that the store has not answered; the answer is empty then. */
static void take_failure(const struct fleet *fleet, struct store_answer *answer,
                         const char *why)
{
    if (fleet->failed == NULL)
        die("%s", why);
    if (!*fleet->failed)
        log_error("%s", why);
    store_answer_free(answer);
    *answer = (struct store_answer){0};
    *fleet->failed = true;
}

void fleet_ask(const struct fleet *fleet, const char *name,
               struct store_answer *answer)
{
    char *sql;
    char why[STORE_WHY];

    *answer = (struct store_answer){0};
    if (fleet->failed != NULL && *fleet->failed)
        return;
    sql = sql_of(fleet, name);
    log_verbose("%s: %s", name, sql);
    if (!store_ask(fleet->store, sql, answer, why))
        take_failure(fleet, answer, why);
    free(sql);
}

struct store_question *fleet_ask_begin(const struct fleet *fleet,
                                       const char *name)
{
    struct store_question *question;
    char *sql;

    if (fleet->failed != NULL && *fleet->failed)
        return NULL;
    sql = sql_of(fleet, name);
    log_verbose("%s: %s", name, sql);
    question = store_ask_begin(fleet->store, sql);
    free(sql);
    return question;
}

void fleet_ask_end(const struct fleet *fleet, struct store_question *question,
                   struct store_answer *answer)
{
    char why[STORE_WHY];

    *answer = (struct store_answer){0};
    if (question != NULL && !store_ask_end(question, answer, why))
        take_failure(fleet, answer, why);
}
