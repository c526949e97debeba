/* SPDX-License-Identifier: Apache-2.0 */
/* parasite sql: a store, or the tables of one trace, asked in SQL. */

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/temporary.h"
#include "base/text.h"
#include "base/wait.h"
#include "cli/arguments.h"
#include "cli/trace_tables.h"
#include "store/embedded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOAD_SECONDS 600.0

static struct {
    const char *words[2];
    unsigned count;
    bool json, change;
    struct view view;
} given = {.view.weight = MODEL_CLOCKS};

static const char help_text[] =
    "Ask a store, or one trace, in ClickHouse's SQL. The tables are samples, "
    "stacks, accounts, loop, waits, guests and losses, described in "
    "docs/fleet.md. Of a trace all but samples are in its first minute."
    "\vA query only reads, unless --write is given. STORE is a folder or "
    "http://USER@HOST:PORT/DATABASE, by default $PARASITE_STORE. A trace is "
    "loaded into a store of its own, which is gone "
    "afterwards.\n\n"
    "For example:\n"
    "  parasite sql run/store 'select sum(samples), sum(weight) from samples'\n"
    "  parasite sql x.trace 'select cpu, ticks, idle from accounts'";

static const struct argument options[] = {
    {"json", 0, NULL, "print a list of JSON objects", .flag = &given.json},
    {"kernel", 'k', "IMAGE", "the ELF image that the trace is of",
     .text = &given.view.image_path},
    {"write", 'w', NULL, "let the query change the store",
     .flag = &given.change},
    {"quiet", 'q', NULL, "print errors only", .flag = &log_quiet},
    {0},
};

static bool take_word(char *word)
{
    if (given.count == 2)
        die_usage("too many words: '%s'", word);
    given.words[given.count++] = word;
    return true;
}

static const struct command_line line = {options, "[STORE|TRACE] QUERY",
                                         help_text, .take = take_word};

/* ---- the answer */

static bool is_number(const char *type)
{
    if (strncmp(type, "Nullable(", strlen("Nullable(")) == 0)
        type += strlen("Nullable(");
    return strncmp(type, "UInt", 4) == 0 || strncmp(type, "Int", 3) == 0 ||
           strncmp(type, "Float", 5) == 0 || strncmp(type, "Decimal", 7) == 0;
}

/* Numbers as they are: of 64 bits, which not all readers of JSON keep. */
static void put_json_value(const char *value, const char *type)
{
    if (value == NULL)
        fputs("null", stdout);
    else if (is_number(type) &&
             strspn(value, "0123456789+-.eE") == strlen(value))
        fputs(value, stdout);
    else if (is_number(type)) /* inf, nan */
        fputs("null", stdout);
    else
        json_put(stdout, value);
}

static void print_json(const struct store_answer *answer)
{
    putchar('[');
    for (size_t row = 0; row < answer->rows; ++row) {
        fputs(row == 0 ? "\n{" : ",\n{", stdout);
        for (unsigned i = 0; i < answer->columns; ++i) {
            if (i > 0)
                fputs(", ", stdout);
            json_put(stdout, answer->names[i]);
            fputs(": ", stdout);
            put_json_value(store_value(answer, row, i), answer->types[i]);
        }
        putchar('}');
    }
    puts("\n]");
}

/* A value as it is shown; to be freed. */
static char *shown(const char *value)
{
    size_t room = PRINTABLE_ESCAPE * strlen(value == NULL ? "" : value) + 8;

    return printable(value == NULL ? "NULL" : value,
                     xreallocarray(NULL, room, 1), room);
}

static void put_cell(const char *value, size_t width, bool right, bool last)
{
    char *text = shown(value);
    int pad = (int)(width - strlen(text));

    if (right)
        printf("%*s%s", pad, "", text);
    else
        printf("%s%*s", text, last ? 0 : pad, "");
    fputs(last ? "\n" : "  ", stdout);
    free(text);
}

static void print_table(const struct store_answer *answer)
{
    size_t *widths = xreallocarray(NULL, answer->columns, sizeof *widths);

    for (unsigned i = 0; i < answer->columns; ++i) {
        widths[i] = strlen(answer->names[i]);
        for (size_t row = 0; row < answer->rows; ++row) {
            char *text = shown(store_value(answer, row, i));

            if (strlen(text) > widths[i])
                widths[i] = strlen(text);
            free(text);
        }
    }
    for (unsigned i = 0; i < answer->columns; ++i)
        put_cell(answer->names[i], widths[i], is_number(answer->types[i]),
                 i + 1 == answer->columns);
    for (size_t row = 0; row < answer->rows; ++row)
        for (unsigned i = 0; i < answer->columns; ++i)
            put_cell(store_value(answer, row, i), widths[i],
                     is_number(answer->types[i]), i + 1 == answer->columns);
    free(widths);
}

static int ask(struct store *store, const char *sql)
{
    struct store_answer answer;
    char why[STORE_WHY];

    if (!store_ask(store, sql, &answer, why)) {
        log_error("%s", why);
        store_answer_free(&answer);
        return STATUS_DATA;
    }
    pager_start();
    if (given.json)
        print_json(&answer);
    else if (answer.columns > 0)
        print_table(&answer);
    store_answer_free(&answer);
    return STATUS_OK;
}

/* ---- of one trace */

static bool is_trace(const char *word)
{
    char *metadata;
    struct stat status;
    bool found;

    if (strstr(word, "://") != NULL || stat(word, &status) != 0)
        return false;
    if (S_ISREG(status.st_mode))
        return true;
    metadata = trace_path(word, "metadata");
    found = access(metadata, F_OK) == 0;
    free(metadata);
    return found;
}

static int ask_trace(const char *trace, const char *sql)
{
    char *path, *spool, *database, why[STORE_WHY];
    struct store_options opened = {.create = true};
    struct store *store;
    int status = STATUS_DATA;

    given.view.input = trace;
    view_read(&given.view, false);
    view_open_names(&given.view);
    path = temporary_folder("sql");
    database = text_format("%s/store", path);
    opened.spool = spool = text_format("%s/spool", path);
    store = store_open(database, &opened, why);
    if (store == NULL) {
        log_error("%s", why);
    } else {
        trace_tables_send(&given.view, store);
        if (!signals_caught() && store_flush(store, LOAD_SECONDS))
            status = ask(store, sql);
        else
            log_error("%s: it cannot be loaded", trace);
        store_close(store);
        embedded_stop(database);
    }
    temporary_remove(path);
    free(path);
    free(spool);
    free(database);
    view_close(&given.view);
    return status;
}

int command_sql(int argc, char **argv)
{
    struct store_options opened = {0};
    struct store *store;
    const char *where = getenv("PARASITE_STORE"), *sql;
    char why[STORE_WHY];
    int status;

    arguments_parse(&line, argc, argv);
    if (given.count == 0)
        die_usage("give a query; see 'parasite sql --help'");
    if (given.count == 2)
        where = given.words[0];
    sql = given.words[given.count - 1];
    if (where == NULL || *where == '\0')
        die_usage("give a store or a trace before the query, or set "
                  "PARASITE_STORE");
    if (is_trace(where))
        return ask_trace(where, sql);
    opened.change = given.change;
    store = store_open(where, &opened, why);
    if (store == NULL)
        die("%s", why);
    status = ask(store, sql);
    store_close(store);
    return status;
}
