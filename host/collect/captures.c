/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures: guests of a service sample at another rate, or have their recorders
 * on, from the same second on and for as long. Their packets are kept in
 * FOLDER/capture-SECOND/UUID.packets; who asked waits for a line about each
 * guest. One that leaves before ends the capture.
 *
 * A capture has a budget, in bytes a second of all its guests. The rate is
 * chosen so that samples fit into it. Where what comes in a second does not,
 * recorders are switched off, and if they are, the rate is lowered. What is
 * kept never exceeds the budget: packets beyond it are left out, and counted.
 */

#include "collect/parts.h"

#include "base/bytes.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECONDS_MAX 3600
#define AHEAD_MAX 3600 /* seconds until it begins */
#define RATE_MAX 20000
#define BUDGET_LEAST 1024u /* bytes a second */
#define BUDGET_MOST 4000000000u
#define ORDERS_MAX 16u
#define SAMPLE_BYTES 8 /* a sample takes no more, but for new stacks */
#define TRIES_MAX 3    /* seconds in which a command is sent again */
#define TRACED_MS 10000
#define PATH_BYTES 4096

static const char *folder_of(const struct collector *collector)
{
    return collector->options.captures != NULL ? collector->options.captures
                                               : collector->options.raw;
}

const char *captures_add(struct collector *collector,
                         const struct capture_order *wanted, uint32_t *id,
                         const char **folder)
{
    int64_t now = now_ms() / 1000;
    struct capture_order *order;

    if (folder_of(collector) == NULL)
        return "captures need --captures DIR, or --keep-raw";
    if (*wanted->service == '\0')
        return "service= is missing";
    if (wanted->end < 1 || wanted->end > SECONDS_MAX)
        return "seconds= takes 1 to 3600";
    if (wanted->rate < 1 || wanted->rate > RATE_MAX)
        return "rate= takes 1 to 20000";
    if (wanted->budget < BUDGET_LEAST || wanted->budget > BUDGET_MOST)
        return "bytes= takes 1024 to 4000000000";
    if (wanted->begin != 0 &&
        (wanted->begin < now - 1 || wanted->begin > now + AHEAD_MAX))
        return "begin= is past, or over an hour ahead; are both clocks right?";
    if (collector->capture_count >= ORDERS_MAX)
        return "too many captures are waiting";
    order = xreallocarray(NULL, 1, sizeof *order);
    *order = *wanted;
    order->id = ++collector->capture_last;
    order->begin = wanted->begin != 0 ? wanted->begin : now + 1;
    order->end = order->begin + wanted->end;
    order->rate_now = order->rate;
    order->tasks_now = order->tasks;
    snprintf(order->folder, sizeof order->folder, "capture-%lld-%u",
             (long long)order->begin, order->id);
    VECTOR_ADD(collector->captures, collector->capture_count, order);
    *id = order->id;
    *folder = order->folder;
    return NULL;
}

/* ---- its guests */

/* The next of the names in (*at), to (name); false: there is none. */
static bool next_name(const char **at, char name[NAME_MAX_BYTES])
{
    size_t bytes = strcspn(*at, ",");

    if (**at == '\0')
        return false;
    snprintf(name, NAME_MAX_BYTES, "%.*s", (int)bytes, *at);
    *at += bytes + ((*at)[bytes] == ',');
    return true;
}

static bool is_wanted(const struct capture_order *order,
                      const struct guest_boot *guest)
{
    char name[NAME_MAX_BYTES];
    const char *at = order->names;

    if (!guest_serves(guest, order->service))
        return false;
    if (*at == '\0')
        return true;
    while (next_name(&at, name))
        if (guest_is_named(guest, name))
            return true;
    return false;
}

/* Notes which names no guest of the service has. */
static void find_missing(struct collector *collector,
                         struct capture_order *order)
{
    char name[NAME_MAX_BYTES];
    size_t used = 0;

    for (const char *at = order->names; next_name(&at, name);) {
        bool found = false;

        for (size_t i = 0; i < collector->guest_count && !found; ++i)
            found = guest_serves(collector->guests[i], order->service) &&
                    guest_is_named(collector->guests[i], name);
        if (!found)
            used += (size_t)snprintf(order->missing + used,
                                     sizeof order->missing - used, "%s,", name);
    }
}

static struct captured *add_guest(struct capture_order *order,
                                  const struct guest_boot *guest)
{
    struct captured *one = xreallocarray(NULL, 1, sizeof *one);

    *one = (struct captured){
        .order = order,
        .id = guest->id,
        .two_way = guest->line != NULL && guest->line->two_way,
        .traced_before = guest->rollup.traced + TRACED_MS > now_ms(),
        .mhz = guest->rollup.rate_mhz};
    memcpy(one->uuid, guest->uuid, UUID_BYTES);
    memcpy(one->where, guest->where, sizeof one->where);
    VECTOR_ADD(order->guests, order->guest_count, one);
    return one;
}

/* Opens its file; (path) is the folder. */
static void open_guest(const struct collector *collector,
                       struct capture_order *order, struct guest_boot *guest,
                       const char *path)
{
    struct captured *one = add_guest(order, guest);
    char uuid[2 * UUID_BYTES + 1], file[PATH_BYTES + sizeof uuid + 16];
    int to;

    if (guest->line == NULL) {
        strcpy(one->why, "it is not connected");
        return;
    }
    if (guest->capture != NULL) {
        strcpy(one->why, "another capture of it is going on");
        return;
    }
    bytes_hex(guest->uuid, UUID_BYTES, uuid);
    snprintf(file, sizeof file, "%s/%s.packets", path, uuid);
    to = files_remain(collector)
             ? open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
             : -1;
    one->to = to >= 0 ? fdopen(to, "w") : NULL;
    if (one->to == NULL) {
        snprintf(one->why, sizeof one->why, "%s", strerror(errno));
        log_error("%s: %s", file, strerror(errno));
        return;
    }
    guest->capture = one;
    one->guest = guest;
}

/* ---- commands */

static void set_guest(struct collector *collector,
                      const struct capture_order *order,
                      struct guest_boot *guest)
{
    if (!guest->capture->rate_agreed)
        guest_set_rate(collector, guest, order->rate_now);
    if (order->tasks_now && !guest->capture->trace_agreed)
        guest_command(collector, guest, "trace on");
}

void captures_answer(struct guest_boot *guest, const char *text)
{
    struct captured *one = guest->capture;

    if (one == NULL)
        return;
    if (strncmp(text, "ok rate", 7) == 0)
        one->rate_agreed = true;
    else if (strncmp(text, "ok trace", 8) == 0)
        one->trace_agreed = true;
    else if (strncmp(text, "ok", 2) != 0 && *one->why == '\0')
        snprintf(one->why, sizeof one->why, "%s", text);
}

/* ---- its time */

static void begin_capture(struct collector *collector,
                          struct capture_order *order)
{
    char path[PATH_BYTES];
    uint64_t cpus = 0, most;

    order->running = true;
    order->second = order->begin;
    /* who may not connect to us may not read what guests sent either */
    mkdir(folder_of(collector), 0700);
    snprintf(path, sizeof path, "%s/%s", folder_of(collector), order->folder);
    mkdir(path, 0700);
    find_missing(collector, order);
    for (size_t i = 0; i < collector->guest_count; ++i)
        if (is_wanted(order, collector->guests[i]))
            open_guest(collector, order, collector->guests[i], path);
    for (size_t i = 0; i < order->guest_count; ++i) {
        struct guest_boot *guest = order->guests[i]->guest;

        cpus += guest != NULL ? guest->rollup.cpu_count : 0;
    }
    most = order->budget / (SAMPLE_BYTES * (cpus > 0 ? cpus : 1));
    if (most < order->rate)
        order->rate_now = most > 0 ? (unsigned)most : 1;
    for (size_t i = 0; i < order->guest_count; ++i) {
        struct guest_boot *guest = order->guests[i]->guest;

        if (guest == NULL)
            continue;
        set_guest(collector, order, guest);
        guest_command(collector, guest, "hello");
    }
    log_info("%s: %zu guests of %s at %u Hz", path, order->guest_count,
             order->service, order->rate_now);
}

/* More has come in a second than may: recorders are off from now on, or the
 * rate is lowered. */
static void lower(struct collector *collector, struct capture_order *order)
{
    double part = (double)order->budget / (double)order->offered;
    bool was_traced = order->tasks_now;

    ++order->lowered;
    order->tasks_now = false;
    if (!was_traced) {
        order->rate_now = (unsigned)(order->rate_now * part);
        if (order->rate_now < 1)
            order->rate_now = 1;
    }
    for (size_t i = 0; i < order->guest_count; ++i) {
        struct captured *one = order->guests[i];
        struct guest_boot *guest = one->guest;

        if (guest == NULL)
            continue;
        if (was_traced && !one->traced_before)
            guest_command(collector, guest, "trace off");
        else if (!was_traced)
            guest_set_rate(collector, guest, order->rate_now);
    }
}

static void next_second(struct collector *collector,
                        struct capture_order *order, int64_t now)
{
    int64_t seconds = now - order->second;

    if (seconds <= 0)
        return;
    if (order->offered > order->budget * (uint64_t)seconds)
        lower(collector, order);
    order->offered = 0;
    order->second = now;
    for (size_t i = 0; i < order->guest_count; ++i) {
        struct captured *one = order->guests[i];
        struct guest_boot *guest = one->guest;

        if (guest != NULL && *one->why == '\0' && one->tries++ < TRIES_MAX)
            set_guest(collector, order, guest);
    }
}

void captures_take(struct guest_boot *guest, const struct packet *packet)
{
    struct captured *one = guest->capture;
    struct capture_order *order = one->order;
    uint64_t seconds;

    if (one->to == NULL)
        return;
    order->offered += packet->total_bytes;
    /* what may be kept up to the end of this second */
    seconds = (uint64_t)(order->second - order->begin) + 1;
    if (seconds > (uint64_t)(order->end - order->begin))
        seconds = (uint64_t)(order->end - order->begin);
    if (order->bytes + packet->total_bytes > order->budget * seconds) {
        ++one->left_out;
        return;
    }
    order->bytes += packet->total_bytes;
    ++one->packets;
    one->bytes += packet->total_bytes;
    if (fwrite(packet->bytes, packet->total_bytes, 1, one->to) != 1 &&
        *one->why == '\0')
        snprintf(one->why, sizeof one->why, "%s", strerror(errno));
}

static void close_file(struct captured *one)
{
    if (one->to != NULL && fclose(one->to) != 0 && *one->why == '\0')
        snprintf(one->why, sizeof one->why, "%s", strerror(errno));
    one->to = NULL;
}

void captures_leave(struct guest_boot *guest)
{
    struct captured *one = guest->capture;

    if (one == NULL)
        return;
    close_file(one);
    one->ended = true;
    one->guest = NULL;
    guest->capture = NULL;
}

/* ---- its end */

/* Why the guest did not do what it should, "" = it did. */
static const char *trouble_of(const struct capture_order *order,
                              const struct captured *one)
{
    if (*one->why != '\0')
        return one->why;
    if (!one->two_way)
        return "its line takes no commands: captured at its own rate";
    if (!one->rate_agreed || (order->tasks && !one->trace_agreed))
        return one->ended ? "it ended before it had answered"
                          : "it did not answer";
    return "";
}

static void put_guest(const struct capture_order *order,
                      const struct captured *one, FILE *out)
{
    json_t *json = json_object();
    const char *why = trouble_of(order, one);
    char text[2 * UUID_BYTES + 1];

    snprintf(text, sizeof text, "%016llx", (unsigned long long)one->id);
    json_set(json, "guest", one->id != 0 ? json_string(text) : json_null());
    bytes_hex(one->uuid, UUID_BYTES, text);
    json_set(json, "boot", json_string(text));
    json_set(json, "target", json_text(one->where));
    json_set(json, "packets", json_count(one->packets));
    json_set(json, "bytes", json_count(one->bytes));
    json_set(json, "left_out", json_count(one->left_out));
    json_set(json, "error", *why != '\0' ? json_text(why) : json_null());
    json_dumpf(json, out, JSON_COMPACT);
    putc('\n', out);
    json_decref(json);
}

/* Names that no guest of the service had. */
static void put_missing(const struct capture_order *order, FILE *out)
{
    char name[NAME_MAX_BYTES];

    for (const char *at = order->missing; next_name(&at, name);) {
        json_t *json = json_object();

        json_set(json, "guest", json_text(name));
        json_set(json, "error", json_string("there is no guest of that name"));
        json_dumpf(json, out, JSON_COMPACT);
        putc('\n', out);
        json_decref(json);
    }
}

static void report_end(struct collector *collector, struct capture_order *order)
{
    struct reader *reader = readers_of_capture(collector, order->id);
    char *text = NULL;
    size_t bytes = 0;
    FILE *out;
    json_t *json;

    if (reader == NULL)
        return;
    out = open_memstream(&text, &bytes);
    if (out == NULL)
        die("out of memory");
    for (size_t i = 0; i < order->guest_count; ++i)
        put_guest(order, order->guests[i], out);
    put_missing(order, out);
    json = json_object();
    json_set(json, "capture", json_string(order->folder));
    json_set(json, "begin", json_count((uint64_t)order->begin));
    json_set(json, "end", json_count((uint64_t)order->end));
    json_set(json, "rate", json_count(order->rate_now));
    json_set(json, "tasks", json_boolean(order->tasks_now));
    json_set(json, "lowered", json_count(order->lowered));
    json_set(json, "bytes", json_count(order->bytes));
    json_dumpf(json, out, JSON_COMPACT);
    putc('\n', out);
    json_decref(json);
    fclose(out);
    readers_tell(collector, reader, text, bytes);
    free(text);
}

static void end(struct collector *collector, struct capture_order *order)
{
    for (size_t i = 0; i < order->guest_count; ++i) {
        struct captured *one = order->guests[i];
        struct guest_boot *guest = one->guest;

        close_file(one);
        if (guest == NULL)
            continue;
        guest->capture = NULL;
        one->guest = NULL;
        if (one->mhz >= 1000)
            guest_set_rate(collector, guest, (one->mhz + 500) / 1000);
        if (order->tasks_now && !one->traced_before)
            guest_command(collector, guest, "trace off");
    }
    report_end(collector, order);
}

static void free_order(struct capture_order *order)
{
    for (size_t i = 0; i < order->guest_count; ++i)
        free(order->guests[i]);
    free(order->guests);
    free(order);
}

/* Nothing more can come. */
static bool all_ended(const struct capture_order *order)
{
    for (size_t i = 0; i < order->guest_count; ++i)
        if (order->guests[i]->guest != NULL)
            return false;
    return true;
}

void captures_tick(struct collector *collector, int64_t now)
{
    for (size_t i = 0; i < collector->capture_count;) {
        struct capture_order *order = collector->captures[i];
        bool left = readers_of_capture(collector, order->id) == NULL;

        if (!order->running && !left && now >= order->begin)
            begin_capture(collector, order);
        if (order->running && !left && now < order->end)
            next_second(collector, order, now);
        if (now < order->end && !left &&
            !(order->running && all_ended(order))) {
            ++i;
            continue;
        }
        if (order->running)
            end(collector, order);
        free_order(order);
        collector->captures[i] =
            collector->captures[--collector->capture_count];
    }
}

void captures_end(struct collector *collector)
{
    for (size_t i = 0; i < collector->capture_count; ++i) {
        if (collector->captures[i]->running)
            end(collector, collector->captures[i]);
        free_order(collector->captures[i]);
    }
    collector->capture_count = 0;
}

/* ---- what was captured */

int captures_open(const struct collector *collector, const char *name,
                  const char *boot)
{
    static const char mark[] = "capture-";
    char path[PATH_BYTES];

    errno = EINVAL;
    if (folder_of(collector) == NULL ||
        strncmp(name, mark, strlen(mark)) != 0 ||
        name[strlen(mark) + strspn(name + strlen(mark), "0123456789-")] !=
            '\0' ||
        strlen(boot) != 2 * UUID_BYTES ||
        boot[strspn(boot, "0123456789abcdef")] != '\0' ||
        snprintf(path, sizeof path, "%s/%s/%s.packets", folder_of(collector),
                 name, boot) >= (int)sizeof path)
        return -1;
    return files_remain(collector)
               ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
               : -1;
}
