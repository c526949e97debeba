/* SPDX-License-Identifier: Apache-2.0 */
/* The guests of a store, and their list. */

#include "fleet/fleet.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOST_MUCH 0.01
#define LOSSY_MAX 5u

static int by_number(const void *one, const void *other)
{
    const struct fleet_guest *const *a = one, *const *b = other;

    return ((*a)->number > (*b)->number) - ((*a)->number < (*b)->number);
}

/* Pointers to the guests by their numbers, for find(); to be freed. */
static struct fleet_guest **sorted(struct fleet_guests *guests)
{
    struct fleet_guest **list =
        xreallocarray(NULL, guests->count + 1, sizeof *list);

    for (size_t i = 0; i < guests->count; ++i)
        list[i] = &guests->list[i];
    qsort(list, guests->count, sizeof *list, by_number);
    return list;
}

/* The guest of the number in the first column of (row), or NULL. */
static struct fleet_guest *find_guest(struct fleet_guest **list, size_t count,
                                      const struct store_answer *answer,
                                      size_t row)
{
    uint64_t number = store_u64(answer, row, 0);
    size_t low = 0;

    while (count > 0) {
        size_t half = count / 2;

        if (list[low + half]->number < number) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return list[low] != NULL && list[low]->number == number ? list[low] : NULL;
}

static void take_accounts(struct fleet_guests *guests)
{
    const struct store_answer *answer = &guests->accounts;

    guests->count = answer->rows;
    guests->list = xreallocarray(NULL, guests->count + 1, sizeof *guests->list);
    for (size_t i = 0; i < guests->count; ++i) {
        unsigned column = 7;

        guests->list[i] = (struct fleet_guest){
            .service = store_value(answer, i, 0),
            .build = store_value(answer, i, 1),
            .number = store_u64(answer, i, 2),
            .first = (uint32_t)store_u64(answer, i, 3),
            .last = (uint32_t)store_u64(answer, i, 4),
            .buckets = store_u64(answer, i, 5),
            .cpus = store_u64(answer, i, 6),
            .host = "",
            .target = "",
            .labels = "",
            .boot = "",
            .account =
                {
                    .ticks = store_u64(answer, i, column),
                    .attributed = store_u64(answer, i, column + 1),
                    .idle = store_u64(answer, i, column + 2),
                    .masked = store_u64(answer, i, column + 3),
                    .unresolved = store_u64(answer, i, column + 4),
                    .dropped = store_u64(answer, i, column + 5),
                    .missed = store_u64(answer, i, column + 6),
                    .stolen_ns = store_u64(answer, i, column + 7),
                },
        };
    }
}

/* Whether the row of losses is of packets that never came: the accounts have
 * their ticks among those dropped, idle ones too. */
static bool is_packets(const struct store_answer *answer, size_t row)
{
    return strcmp(store_value(answer, row, 1), STORE_PACKETS) == 0;
}

static void take_rest(struct fleet_guests *guests)
{
    struct fleet_guest **list = sorted(guests);
    const struct store_answer *answer = &guests->identities;

    list[guests->count] = NULL;
    for (size_t i = 0; i < answer->rows; ++i) {
        struct fleet_guest *guest = find_guest(list, guests->count, answer, i);

        if (guest == NULL)
            continue; /* it was there at another time */
        guest->host = store_value(answer, i, 1);
        guest->target = store_value(answer, i, 2);
        guest->labels = store_value(answer, i, 3);
        guest->mhz = (uint32_t)store_u64(answer, i, 4);
        guest->boot = store_value(answer, i, 5);
    }
    answer = &guests->delays;
    for (size_t i = 0; i < answer->rows; ++i) {
        struct fleet_guest *guest = find_guest(list, guests->count, answer, i);

        if (guest == NULL)
            continue;
        guest->has_delay = true;
        guest->delay_50 = store_u64(answer, i, 1);
        guest->delay_99 = store_u64(answer, i, 2);
    }
    answer = &guests->losses;
    for (size_t i = 0; i < answer->rows; ++i) {
        struct fleet_guest *guest = find_guest(list, guests->count, answer, i);

        if (guest == NULL || is_packets(answer, i))
            continue;
        guest->lost_rows += store_u64(answer, i, 4);
        guest->lost_amount += store_u64(answer, i, 5);
        if (strcmp(store_value(answer, i, 1), "samples") == 0)
            guest->lost_samples += store_u64(answer, i, 5);
    }
    free(list);
}

void fleet_guests(const struct fleet *fleet, struct fleet_guests *guests)
{
    *guests = (struct fleet_guests){0};
    fleet_ask(fleet, "guests", &guests->accounts);
    fleet_ask(fleet, "identities", &guests->identities);
    fleet_ask(fleet, "delays", &guests->delays);
    fleet_ask(fleet, "losses", &guests->losses);
    take_accounts(guests);
    take_rest(guests);
}

void fleet_claims(const struct fleet *fleet, struct fleet_guests *guests)
{
    fleet_ask(fleet, "claims", &guests->claims);
}

uint64_t fleet_stored(const struct fleet_guest *guest)
{
    uint64_t all = guest->account.attributed;

    return all > guest->lost_samples ? all - guest->lost_samples : 0;
}

void fleet_mixes(const struct fleet *fleet, struct mixes *mixes)
{
    struct store_answer guests, names;

    fleet_ask(fleet, "mixes", &guests);
    fleet_ask(fleet, "mix_names", &names);
    mixes_make(mixes, guests, names);
}

void fleet_guests_free(struct fleet_guests *guests)
{
    free(guests->list);
    store_answer_free(&guests->accounts);
    store_answer_free(&guests->identities);
    store_answer_free(&guests->delays);
    store_answer_free(&guests->losses);
    store_answer_free(&guests->claims);
}

double fleet_busy(const struct fleet_account *account)
{
    uint64_t came =
        account->ticks > account->missed ? account->ticks - account->missed : 0;

    return came > account->idle ? (double)(came - account->idle) / (double)came
                                : 0;
}

double fleet_lost(const struct fleet_account *account)
{
    return account->ticks > 0 ? (double)(account->missed + account->dropped) /
                                    (double)account->ticks
                              : 0;
}

const char *fleet_guest_name(const struct fleet_guest *guest, char *text)
{
    char host[FLEET_NAME_MAX / 4], target[FLEET_NAME_MAX / 2];
    char number[FLEET_NUMBER_MAX];

    if (*guest->target == '\0')
        snprintf(text, FLEET_NAME_MAX, "guest %s",
                 fleet_number_text(guest->number, number));
    else
        snprintf(text, FLEET_NAME_MAX, "%s %s",
                 printable(guest->host, host, sizeof host),
                 printable(guest->target, target, sizeof target));
    return text;
}

/* ---- the list */

static double seconds_of(const struct fleet_guest *guest)
{
    return (double)guest->buckets * STORE_BUCKET_SECONDS;
}

static double stolen_of(const struct fleet_guest *guest)
{
    return (double)guest->account.stolen_ns / 1e9 / seconds_of(guest) /
           (double)guest->cpus;
}

static int by_busy(const void *one, const void *other)
{
    const struct fleet_guest *const *a = one, *const *b = other;
    int services = strcmp((*a)->service, (*b)->service);
    double x = fleet_busy(&(*a)->account), y = fleet_busy(&(*b)->account);

    if (services != 0)
        return services;
    if (x == y && strcmp((*a)->target, (*b)->target) != 0)
        return strcmp((*a)->target, (*b)->target);
    return x != y ? (x < y) - (x > y) : by_number(one, other);
}

static void print_row(const struct fleet_guest *guest, FILE *out)
{
    char service[64], delay[FLEET_NS_MAX], name[FLEET_NAME_MAX];

    fprintf(out, "%-12s %-12.12s %8.1f %4" PRIu64 " %7.2f %% %7.2f %% ",
            printable(guest->service, service, sizeof service), guest->build,
            (double)(guest->account.ticks - guest->account.missed) /
                seconds_of(guest),
            guest->cpus, 100 * fleet_busy(&guest->account),
            100 * stolen_of(guest));
    fprintf(out, "%9s %7.2f %% %s\n",
            guest->has_delay ? fleet_ns_text((double)guest->delay_99, delay)
                             : "-",
            100 * fleet_lost(&guest->account), fleet_guest_name(guest, name));
}

/* Guests that lost most, wherever they are in the table. */
static void print_lossy(struct fleet_guest **list, size_t count, FILE *out)
{
    char name[FLEET_NAME_MAX], service[64];
    size_t lossy = 0;

    for (size_t i = 0; i < count; ++i) {
        double lost = fleet_lost(&list[i]->account);

        if (lost < LOST_MUCH || ++lossy > LOSSY_MAX)
            continue;
        fprintf(out, "lost: %.2f %% of the ticks of %s %s\n", 100 * lost,
                printable(list[i]->service, service, sizeof service),
                fleet_guest_name(list[i], name));
    }
    if (lossy > LOSSY_MAX)
        fprintf(out, "and %zu more guests that lost %g %% or more\n",
                lossy - LOSSY_MAX, 100 * LOST_MUCH);
}

static int by_lost(const void *one, const void *other)
{
    const struct fleet_guest *const *a = one, *const *b = other;
    double x = fleet_lost(&(*a)->account), y = fleet_lost(&(*b)->account);

    return x != y ? (x < y) - (x > y) : by_number(one, other);
}

static void print_loss(const struct store_answer *answer, size_t row, FILE *out)
{
    char number[FLEET_NUMBER_MAX], host[64], why[128], what[64];

    if (is_packets(answer, row))
        fprintf(out,
                "lost on the way: %s packets (%s ticks, among the dropped)",
                store_value(answer, row, 4), store_value(answer, row, 5));
    else
        fprintf(out, "not stored: %s rows of %s (%s ticks, samples or counts)",
                store_value(answer, row, 4),
                printable(store_value(answer, row, 1), what, sizeof what),
                store_value(answer, row, 5));
    fprintf(out, " of guest %s, by %s: %s\n",
            fleet_number_text(store_u64(answer, row, 0), number),
            printable(store_value(answer, row, 3), host, sizeof host),
            printable(store_value(answer, row, 2), why, sizeof why));
}

static void print_losses(const struct fleet_guests *guests, size_t rows,
                         FILE *out)
{
    const struct store_answer *answer = &guests->losses;

    for (size_t i = 0; i < answer->rows && (rows == 0 || i < rows); ++i)
        print_loss(answer, i, out);
    if (rows > 0 && answer->rows > rows)
        fprintf(out, "and %zu more such loss%s\n", answer->rows - rows,
                answer->rows - rows == 1 ? "" : "es");
}

/* Sums have these guests twice. */
static void print_claims(const struct store_answer *answer, size_t rows,
                         FILE *out)
{
    char hosts[128];

    for (size_t i = 0; i < answer->rows && (rows == 0 || i < rows); ++i)
        fprintf(out,
                "warning: boot %s is %s guests in %s minute%s, by %s: two "
                "serve have it, or it was copied with its memory\n",
                store_value(answer, i, 0), store_value(answer, i, 1),
                store_value(answer, i, 2),
                store_u64(answer, i, 2) == 1 ? "" : "s",
                printable(store_value(answer, i, 3), hosts, sizeof hosts));
    if (rows > 0 && answer->rows > rows)
        fprintf(out, "and %zu more such boot%s\n", answer->rows - rows,
                answer->rows - rows == 1 ? "" : "s");
}

static void add_account(struct fleet_account *sum,
                        const struct fleet_account *one)
{
    sum->ticks += one->ticks;
    sum->attributed += one->attributed;
    sum->idle += one->idle;
    sum->masked += one->masked;
    sum->unresolved += one->unresolved;
    sum->dropped += one->dropped;
    sum->missed += one->missed;
    sum->stolen_ns += one->stolen_ns;
}

static void print_sum(const struct fleet_account *sum, size_t count, FILE *out)
{
    const struct {
        const char *name;
        uint64_t ticks;
    } rows[] = {
        {"attributed to functions", sum->attributed},
        {"idle", sum->idle},
        {"masked: due while interrupts were off", sum->masked},
        {"unresolved", sum->unresolved},
        {"dropped", sum->dropped},
        {"missed: due by the clock, never delivered", sum->missed},
        {"all ticks that were due", sum->ticks},
    };
    char number[NUMBER_TEXT_MAX];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        fprintf(out, "%7.2f %% %17s  %s\n",
                sum->ticks > 0
                    ? 100 * (double)rows[i].ticks / (double)sum->ticks
                    : 0,
                number_count(rows[i].ticks, number), rows[i].name);
    fprintf(out, "%27zu  guest%s\n", count, count == 1 ? "" : "s");
}

void fleet_list_print(const struct fleet *fleet,
                      const struct fleet_guests *guests, size_t rows, FILE *out)
{
    struct fleet_account sum = {0};
    struct fleet_guest **list =
        sorted((struct fleet_guests *)(uintptr_t)guests);

    qsort(list, guests->count, sizeof *list, by_busy);
    fleet_print_head(fleet, out);
    fprintf(out, "%-12s %-12s %8s %4s %9s %9s %9s %9s guest\n", "service",
            "build", "ticks/s", "CPUs", "busy", "stolen", "p99 late", "lost");
    for (size_t i = 0; i < guests->count; ++i) {
        if (rows == 0 || i < rows)
            print_row(list[i], out);
        add_account(&sum, &list[i]->account);
    }
    if (rows > 0 && guests->count > rows)
        fprintf(out, "and %zu more\n", guests->count - rows);
    print_sum(&sum, guests->count, out);
    qsort(list, guests->count, sizeof *list, by_lost);
    print_lossy(list, guests->count, out);
    print_losses(guests, rows, out);
    print_claims(&guests->claims, rows, out);
    free(list);
}

/* ---- as JSON */

static json_t *account_json(const struct fleet_account *account)
{
    json_t *object = json_object();

    json_set(object, "ticks", json_count(account->ticks));
    json_set(object, "attributed", json_count(account->attributed));
    json_set(object, "idle", json_count(account->idle));
    json_set(object, "masked", json_count(account->masked));
    json_set(object, "unresolved", json_count(account->unresolved));
    json_set(object, "dropped", json_count(account->dropped));
    json_set(object, "missed", json_count(account->missed));
    json_set(object, "stolen_ns", json_count(account->stolen_ns));
    return object;
}

static json_t *guest_json(const struct fleet_guest *guest)
{
    json_t *object = json_object();
    char number[FLEET_NUMBER_MAX];

    json_set(object, "guest",
             json_text(fleet_number_text(guest->number, number)));
    json_set(object, "service", json_text(guest->service));
    json_set(object, "build", json_text(guest->build));
    json_set(object, "boot", json_text(guest->boot));
    json_set(object, "host", json_text(guest->host));
    json_set(object, "target", json_text(guest->target));
    json_set(object, "labels", json_text(guest->labels));
    json_set(object, "rate_hz", fleet_real(guest->mhz / 1e3));
    json_set(object, "cpus", json_count(guest->cpus));
    json_set(object, "first", json_count(guest->first));
    json_set(object, "last", json_count(guest->last));
    json_set(object, "buckets", json_count(guest->buckets));
    json_set(object, "account", account_json(&guest->account));
    json_set(object, "busy", fleet_real(fleet_busy(&guest->account)));
    json_set(object, "lost", fleet_real(fleet_lost(&guest->account)));
    json_set(object, "delay_p50_ns",
             guest->has_delay ? json_count(guest->delay_50) : json_null());
    json_set(object, "delay_p99_ns",
             guest->has_delay ? json_count(guest->delay_99) : json_null());
    json_set(object, "not_stored_rows", json_count(guest->lost_rows));
    json_set(object, "not_stored_amount", json_count(guest->lost_amount));
    return object;
}

static json_t *claims_json(const struct store_answer *answer)
{
    json_t *list = json_array();

    for (size_t i = 0; i < answer->rows; ++i) {
        json_t *claim = json_object();

        json_set(claim, "boot", json_text(store_value(answer, i, 0)));
        json_set(claim, "guests", json_count(store_u64(answer, i, 1)));
        json_set(claim, "minutes", json_count(store_u64(answer, i, 2)));
        json_set(claim, "hosts", json_text(store_value(answer, i, 3)));
        json_array_append_new(list, claim);
    }
    return list;
}

json_t *fleet_list_json(const struct fleet *fleet,
                        const struct fleet_guests *guests)
{
    const struct store_answer *answer = &guests->losses;
    json_t *object = fleet_json(fleet), *list = json_array();
    json_t *losses = json_array();
    struct fleet_account sum = {0};

    for (size_t i = 0; i < guests->count; ++i) {
        json_array_append_new(list, guest_json(&guests->list[i]));
        add_account(&sum, &guests->list[i].account);
    }
    for (size_t i = 0; i < answer->rows; ++i) {
        json_t *loss = json_object();
        char number[FLEET_NUMBER_MAX];

        fleet_number_text(store_u64(answer, i, 0), number);
        json_set(loss, "guest", json_text(number));
        json_set(loss, "what", json_text(store_value(answer, i, 1)));
        json_set(loss, "why", json_text(store_value(answer, i, 2)));
        json_set(loss, "host", json_text(store_value(answer, i, 3)));
        json_set(loss, "rows", json_count(store_u64(answer, i, 4)));
        json_set(loss, "amount", json_count(store_u64(answer, i, 5)));
        json_array_append_new(losses, loss);
    }
    json_set(object, "account", account_json(&sum));
    json_set(object, "guests", list);
    json_set(object, "not_stored", losses);
    json_set(object, "claimed_twice", claims_json(&guests->claims));
    return object;
}
