/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands to guests: rates that keep to a budget, and captures of all
 * guests of a service at the same time.
 *
 * A budget is samples in an hour of all guests of a service. It is shared by
 * their CPUs, and shared anew as guests come and go. Weights are times, so a
 * profile is of the same time at whatever rate it was taken.
 */

#include "collect/parts.h"

#include "base/bytes.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define BUDGET_SECONDS 5
#define HOUR 3600
#define RATE_MAX 20000
#define RATE_TOLERANCE 0.05
#define CAPTURE_SECONDS_MAX 3600
#define CAPTURES_MAX 16u

static bool is_of(const struct guest_boot *guest, const char *service)
{
    return guest->line != NULL && guest->line->two_way &&
           (strcmp(guest->service, service) == 0 ||
            strcmp(guest->said, service) == 0);
}

static void set_rate(struct collector *collector, struct guest_boot *guest,
                     unsigned hz)
{
    char command[32];

    snprintf(command, sizeof command, "rate %u", hz);
    guest_command(collector, guest, command);
}

/* ---- budgets */

static void share_budget(struct collector *collector,
                         const struct collector_budget *budget)
{
    size_t cpus = 0;
    double hz;

    for (size_t i = 0; i < collector->guest_count; ++i)
        if (is_of(collector->guests[i], budget->service))
            cpus += collector->guests[i]->rollup.cpu_count;
    if (cpus == 0)
        return;
    hz = budget->per_hour / HOUR / (double)cpus;
    hz = hz < 1 ? 1 : hz > RATE_MAX ? RATE_MAX : hz;
    for (size_t i = 0; i < collector->guest_count; ++i) {
        struct guest_boot *guest = collector->guests[i];
        double now = guest->rollup.rate_mhz / 1000.0;

        if (!is_of(guest, budget->service) || guest->capture != NULL ||
            guest->rollup.rate_mhz == 0 ||
            (now >= hz * (1 - RATE_TOLERANCE) - 0.5 &&
             now <= hz * (1 + RATE_TOLERANCE) + 0.5))
            continue;
        guest->asked_mhz = (uint32_t)(hz * 1000);
        set_rate(collector, guest, (unsigned)hz);
    }
}

/* ---- captures */

const char *orders_capture(struct collector *collector, const char *service,
                           double seconds, unsigned rate)
{
    int64_t now = now_ms() / 1000;
    struct capture_order order = {.rate = rate};

    if (collector->options.raw == NULL)
        return "captures need --keep-raw";
    if (*service == '\0')
        return "service= is missing";
    if (!(seconds >= 1 && seconds <= CAPTURE_SECONDS_MAX))
        return "seconds= takes 1 to 3600";
    if (rate < 1 || rate > RATE_MAX)
        return "rate= takes 1 to 20000";
    if (collector->capture_count >= CAPTURES_MAX)
        return "too many captures are waiting";
    snprintf(order.service, sizeof order.service, "%s", service);
    order.begin = now + 1;
    order.end = order.begin + (int64_t)seconds;
    snprintf(order.folder, sizeof order.folder, "capture-%lld",
             (long long)order.begin);
    VECTOR_ADD(collector->captures, collector->capture_count, order);
    return NULL;
}

static void begin_capture(struct collector *collector,
                          struct capture_order *order)
{
    char path[4096], uuid[2 * UUID_BYTES + 1];
    size_t used, guests = 0;

    order->running = true;
    mkdir(collector->options.raw, 0777);
    used = (size_t)snprintf(path, sizeof path - 64, "%s/%s",
                            collector->options.raw, order->folder);
    mkdir(path, 0777);
    for (size_t i = 0; i < collector->guest_count; ++i) {
        struct guest_boot *guest = collector->guests[i];

        if (!is_of(guest, order->service) || guest->capture != NULL ||
            used > sizeof path - 64)
            continue;
        bytes_hex(guest->uuid, UUID_BYTES, uuid);
        sprintf(path + used, "/%s.packets", uuid);
        guest->capture = fopen(path, "we");
        if (guest->capture == NULL) {
            log_error("%s: %s", path, strerror(errno));
            continue;
        }
        guest->asked_mhz = guest->rollup.rate_mhz; /* to be set again */
        set_rate(collector, guest, order->rate);
        guest_command(collector, guest, "hello");
        ++guests;
    }
    path[used] = '\0';
    log_info("%s: %zu guests of %s at %u Hz", path, guests, order->service,
             order->rate);
}

static void end_capture(struct collector *collector,
                        const struct capture_order *order)
{
    for (size_t i = 0; i < collector->guest_count; ++i) {
        struct guest_boot *guest = collector->guests[i];

        if (guest->capture == NULL ||
            (strcmp(guest->service, order->service) != 0 &&
             strcmp(guest->said, order->service) != 0))
            continue;
        if (fclose(guest->capture) != 0)
            log_error("%s: %s", order->folder, strerror(errno));
        guest->capture = NULL;
        if (guest->asked_mhz >= 1000)
            set_rate(collector, guest, (guest->asked_mhz + 500) / 1000);
    }
}

void orders_tick(struct collector *collector, int64_t now)
{
    const struct collector_options *options = &collector->options;

    if (now >= collector->budgeted + BUDGET_SECONDS) {
        collector->budgeted = now;
        for (size_t i = 0; i < options->budget_count; ++i)
            share_budget(collector, &options->budgets[i]);
    }
    for (size_t i = 0; i < collector->capture_count;) {
        struct capture_order *order = &collector->captures[i];

        if (!order->running && now >= order->begin)
            begin_capture(collector, order);
        if (now < order->end) {
            ++i;
            continue;
        }
        end_capture(collector, order);
        *order = collector->captures[--collector->capture_count];
    }
}
