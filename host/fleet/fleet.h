/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLEET_FLEET_H
#define FLEET_FLEET_H

/*
 * Many guests, as a store has them (store/rows.h): who they are, where their
 * time went, which builds differ and which guests differ from the others.
 *
 * The queries are in sql/, one a file, in the SQL that both old and new engines
 * understand alike. They return sums; what is judged of them is computed here,
 * so that it is the same whatever the engine.
 *
 * Calls end the process with a line if the store does not answer, unless
 * (failed) of struct fleet is set.
 */

#include "fleet/mixes.h"
#include "page/page.h"
#include "store/client.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define FLEET_BUILD_HEX (2 * STORE_BUILD_BYTES + 1)
#define FLEET_BUILDS_MAX 2

/* Which part of the store. */
struct fleet {
    struct store *store;
    const char *service;   /* NULL = all */
    uint32_t since, until; /* Unix seconds, from a whole minute to another */
    char builds[FLEET_BUILDS_MAX][FLEET_BUILD_HEX]; /* none = all */
    unsigned build_count;
    bool *failed; /* becomes true if the store does not answer; that is said
                     once, and from then on answers are empty; NULL = it ends
                     the process */
};

/* ---- choosing (choose.c, times.c) */

/* Unix seconds of (word): "90s", "30m", "1h" or "2d" before (now), "now", "@"
 * and Unix seconds, or "2026-11-02", "2026-11-02 10:00" and
 * "2026-11-02T10:00:30Z" of UTC. False: it is none of them. */
bool fleet_time(const char *word, uint32_t now, uint32_t *seconds);

struct fleet_build {
    char id[FLEET_BUILD_HEX];
    uint32_t first, last; /* buckets */
    uint64_t guests;
    uint64_t ticks;
};

/* The builds of the service, the first seen first, (count) of them, to be
 * freed. */
struct fleet_build *fleet_builds(const struct fleet *fleet, size_t *count);

/* Adds the build that (word) is: the first digits of its id, "first" or "last",
 * the one that was first or last seen. Ends the process if it is none, or more
 * than one. */
void fleet_add_build(struct fleet *fleet, const char *word);

/* ---- asking (query.c) */

/* Runs sql/(name).sql; the answer is to be freed. */
void fleet_ask(const struct fleet *fleet, const char *name,
               struct store_answer *answer);
/* The same while others are asked, until fleet_ask_end(). */
struct store_question *fleet_ask_begin(const struct fleet *fleet,
                                       const char *name);
void fleet_ask_end(const struct fleet *fleet, struct store_question *question,
                   struct store_answer *answer);

/* ---- guests (guests.c) */

/* Counters of store/rows.h. */
struct fleet_account {
    uint64_t ticks, attributed, idle, masked, unresolved, dropped, missed;
    uint64_t stolen_ns;
};

struct fleet_guest {
    uint64_t number;
    const char *service, *build; /* live as long as the list */
    const char *host, *target, *labels, *boot;
    uint32_t mhz;
    uint32_t first, last; /* buckets */
    uint64_t buckets;
    uint64_t cpus;
    struct fleet_account account;
    bool has_delay;
    uint64_t delay_50, delay_99; /* of its event loop, ns */
    uint64_t lost_rows;          /* that no collector could store */
    uint64_t lost_amount;
    uint64_t lost_samples; /* of these */
};

struct fleet_guests {
    struct fleet_guest *list; /* by service, build and number */
    size_t count;
    struct store_answer accounts, identities, delays, losses;
    struct store_answer claims; /* boots that are several of these at once */
};

/* All guests that were sampled, or of which something was lost. */
void fleet_guests(const struct fleet *fleet, struct fleet_guests *guests);
/* Queries their claims, of which there are none before. Only lists of guests
 * show them. */
void fleet_claims(const struct fleet *fleet, struct fleet_guests *guests);
void fleet_guests_free(struct fleet_guests *guests);

/* The busy part of the ticks that came, and the part of all that were due that
 * was lost in the guest or on its way, 0 to 1. */
double fleet_busy(const struct fleet_account *account);
double fleet_lost(const struct fleet_account *account);

/* The mixes of all guests, to be freed. */
void fleet_mixes(const struct fleet *fleet, struct mixes *mixes);

/* How many samples of the guest are in the store: its account's, but for those
 * that no collector could store. */
uint64_t fleet_stored(const struct fleet_guest *guest);

/* "host0 shm:/dev/shm/web-3"; its number where nothing is known of it. */
#define FLEET_NAME_MAX 128
const char *fleet_guest_name(const struct fleet_guest *guest, char *text);

/* ---- the outputs: tables, of at most (rows), 0 = all, or JSON */

void fleet_list_print(const struct fleet *fleet,
                      const struct fleet_guests *guests, size_t rows,
                      FILE *out);
json_t *fleet_list_json(const struct fleet *fleet,
                        const struct fleet_guests *guests);

/* Functions (top.c). */
enum fleet_order { FLEET_BY_SELF, FLEET_BY_TOTAL };
struct fleet_function {
    const char *name;
    uint64_t self_ns, total_ns;
    uint64_t self_samples, total_samples;
};
struct fleet_top {
    struct fleet_function *list;
    size_t count;
    uint64_t ns, samples; /* of all */
    struct store_answer answer;
};
void fleet_top(const struct fleet *fleet, enum fleet_order order,
               struct fleet_top *top);
void fleet_top_free(struct fleet_top *top);
void fleet_top_print(const struct fleet *fleet, const struct fleet_top *top,
                     size_t rows, FILE *out);
json_t *fleet_top_json(const struct fleet *fleet, const struct fleet_top *top);

/* What tasks waited for, the longest first (waits.c): columns are the place
 * that created them, the reason, how often and ns. */
void fleet_waits(const struct fleet *fleet, struct store_answer *answer);
void fleet_waits_print(const struct fleet *fleet,
                       const struct store_answer *answer, size_t rows,
                       FILE *out);
json_t *fleet_waits_json(const struct fleet *fleet,
                         const struct store_answer *answer);

/* Two builds (diff.c). Guests are what is compared, not samples: a build is
 * slower if its guests are, beyond how much guests of one build differ. */
struct fleet_sample {
    uint64_t guests;
    double mean, variance;
};
struct fleet_change {
    const char *name;
    struct fleet_sample base, now;
    uint64_t samples;
    double t, freedom; /* Welch's; t is infinite where nothing varies */
    double p;          /* two-sided */
    bool significant;  /* with all that is compared: Bonferroni, 5 % */
};
struct fleet_diff {
    struct fleet_build base, now;
    struct fleet_change *measures; /* of the accounts and the event loop */
    size_t measure_count;
    struct fleet_change *functions; /* the surest change first */
    size_t count;
    enum fleet_order by; /* which shares of the functions */
    struct mixes mixes;  /* where names are */
};

/* Compares the two builds of (fleet). */
void fleet_diff(const struct fleet *fleet, enum fleet_order by,
                struct fleet_diff *diff);
void fleet_diff_free(struct fleet_diff *diff);
void fleet_diff_print(const struct fleet *fleet, const struct fleet_diff *diff,
                      size_t rows, FILE *out);
json_t *fleet_diff_json(const struct fleet *fleet,
                        const struct fleet_diff *diff);

/* Guests that differ (odd.c). */
#define FLEET_ODD_GUESTS                                                       \
    5u /* that are needed, for a median to mean something */

#define FLEET_ODD_SHARES 3u

enum fleet_measure {
    FLEET_BUSY,
    FLEET_MIX,
    FLEET_LOST,
    FLEET_DELAY,
    FLEET_MEASURES
};

const char *fleet_measure_name(enum fleet_measure measure);

struct fleet_share {
    const char *function;
    double own, mean; /* its share in the guest, and in all */
};

struct fleet_odd_guest {
    const struct fleet_guest *guest;
    double values[FLEET_MEASURES];     /* NAN = unknown */
    double deviations[FLEET_MEASURES]; /* from the median, in (spread) */
    double most;                       /* the largest, without its sign */
    enum fleet_measure measure;        /* which that is */
    struct fleet_share
        shares[FLEET_ODD_SHARES]; /* where the mix differs most */
    size_t share_count;
    const struct mixes_guest *mix; /* NULL = it has no samples */
};

struct fleet_odd {
    struct fleet_guests guests;
    struct fleet_odd_guest *list; /* all guests, the oddest first */
    size_t count;
    size_t odd; /* of them deviate by (above) or more */
    double above;
    double medians[FLEET_MEASURES];
    double spreads[FLEET_MEASURES]; /* one deviation; NAN = unknown */
    struct mixes mixes;             /* where names are */
    double *means; /* of each of their list: its share in all guests */
};

/* Looks for guests that deviate by (above), and for what is different in the
 * mixes of the first (explained) of them. */
void fleet_odd(const struct fleet *fleet, double above, size_t explained,
               struct fleet_odd *odd);
void fleet_odd_free(struct fleet_odd *odd);
void fleet_odd_print(const struct fleet *fleet, const struct fleet_odd *odd,
                     size_t rows, FILE *out);
json_t *fleet_odd_json(const struct fleet *fleet, const struct fleet_odd *odd);

/* ---- other systems (post.c) */

/* Sends each minute of each guest as a profile to (target), of push/push.h;
 * returns how many. Ends the process if one is not taken. */
uint64_t fleet_push(const struct fleet *fleet, const char *target);

/* ---- pages */

struct flame;

/* The flame graph (flame/flame.h) of a service over time, or of two builds side
 * by side, finished and to be freed (draw.c). Ends the process if there are no
 * samples. */
void fleet_flame(const struct fleet *fleet, const char *title,
                 struct flame *flame);

/* The stacks of it, of each build, from the outermost function (folded.c). */
json_t *fleet_stacks_json(const struct fleet *fleet);

/* The page of all guests, and of their time by the minute (page.c). It loads
 * itself again every (seconds), 0 = never. False: not all of it was written.
 * If the store has not answered (struct fleet), guests are missing in it. */
bool fleet_write_page(const struct fleet *fleet, unsigned seconds, FILE *out);

/* ---- parts of the outputs (words.c) */

/* The number of a guest as serve has it, "00c3a90e5be3a90e"; returns (text). */
#define FLEET_NUMBER_MAX 17
const char *fleet_number_text(uint64_t number, char *text);

/* "2026-11-02 10:00:00"; returns (text). */
#define FLEET_TIME_MAX 24
const char *fleet_time_text(uint32_t seconds, char *text);

/* "web, 2 builds, 2026-11-02 00:00 to 00:10 UTC" */
void fleet_print_head(const struct fleet *fleet, FILE *out);

/* An object with service, since, until and builds. */
json_t *fleet_json(const struct fleet *fleet);

/* A number of JSON with nine digits, so that the order of sums does not show;
 * null if it is none. */
json_t *fleet_real(double value);

/* "1.2 ms"; returns (text). */
#define FLEET_NS_MAX 24
const char *fleet_ns_text(double ns, char *text);

#endif
