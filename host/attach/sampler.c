/* SPDX-License-Identifier: Apache-2.0 */
/* The loop, and the report of what it cost. */

#include "attach/sampler.h"

#include "base/log.h"
#include "base/text.h"
#include "base/wait.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define TRIES 16u /* candidates for where an image is, in a stop */
#define NAP_SECONDS 0.1
#define SPIN_SECONDS 50e-6 /* what is due so soon is slept over */
#define PROGRESS_SECONDS 0.25
#define FLUSH_SECONDS 1.0
#define LIVE_SECONDS 0.1 /* the same, where somebody looks on */

static void take_packet(void *owner, const struct packet *packet)
{
    struct sampler *sampler = owner;
    const uint8_t *at = packet->bytes;
    size_t left = packet->total_bytes;

    if (sampler->packets < 0) {
        boots_take(&sampler->boots, packet);
        return;
    }
    /* who should read them may be waiting for our end */
    while (left > 0 && !sampler->refused) {
        size_t part = left < PIPE_BUF ? left : PIPE_BUF; /* does not block */
        ssize_t count = wait_writable(sampler->packets, HUGE_VAL, 0)
                            ? write(sampler->packets, at, part)
                            : -1;

        sampler->refused = count < 0 && (errno != EINTR || signals_caught());
        at += count > 0 ? count : 0;
        left -= count > 0 ? (size_t)count : 0;
    }
}

static uint64_t clocks(double seconds)
{
    return (uint64_t)(seconds * PROF_CLOCK_HZ);
}

static void begin_stream(struct sampler *sampler)
{
    struct event_hello hello = {
        .version = PROF_FORMAT_VERSION,
        .pointer_bits = sampler->machine->is_64 ? 64 : 32,
        .unix_seconds = (uint64_t)time(NULL),
    };
    const struct image *image = sampler->image;

    if (image != NULL) {
        hello.text_begin = image->begin;
        hello.text_end = image->end;
        hello.build_id_bytes = image->build_id_bytes;
        memcpy(hello.build_id, image->build_id, sizeof hello.build_id);
    }
    if (getrandom(sampler->encoder.uuid, sizeof sampler->encoder.uuid, 0) < 0)
        die("no random numbers: %s", strerror(errno));
    sampler->encoder.sink = (struct packet_sink){take_packet, sampler};
    encoder_begin(&sampler->encoder, sampler->machine->cpu_count, &hello,
                  (uint32_t)(sampler->hz * 1000), sampler->depth);
}

static bool is_over(struct sampler *sampler)
{
    return signals_caught() || sampler->refused ||
           sampler->machine->reason != MACHINE_LIVES ||
           (sampler->seconds > 0 &&
            seconds_now() - sampler->began >= sampler->seconds) ||
           (sampler->alive != NULL && !sampler->alive(sampler->owner));
}

static void show_progress(struct sampler *sampler)
{
    char samples[NUMBER_TEXT_MAX];
    double now = seconds_now(), span = now - sampler->began;

    if (now - sampler->shown < PROGRESS_SECONDS)
        return;
    sampler->shown = now;
    if (log_shows_progress())
        log_progress("[ %s: %.1f s, %s samples, %.0f/s, paused %.2f %%%s ]",
                     log_name, span, number_count(sampler->samples, samples),
                     (double)sampler->samples / span,
                     100 * sampler->pauses.total / span,
                     sampler->machine->held ? ", held by somebody else" : "");
}

/* Sleeps until the next sample is due; false if there will be none. */
static bool wait_until_due(struct sampler *sampler)
{
    for (;;) {
        double left = sampler->schedule.due - seconds_now();
        struct timespec nap = {0};

        if (is_over(sampler))
            return false;
        if (left <= 0)
            return true;
        if (left > NAP_SECONDS)
            left = NAP_SECONDS;
        nap.tv_nsec = (long)(left * 1e9);
        if (left > SPIN_SECONDS)
            nanosleep(&nap, NULL);
        show_progress(sampler);
    }
}

/* A CPU's part of a stop: written when the guest runs again. */
struct taken {
    bool runs;
    bool masked;
    struct unwind_stack stack;
};

static void write_cpu(struct sampler *sampler, size_t cpu,
                      const struct taken *taken)
{
    const struct unwind_stack *stack = &taken->stack;
    uint64_t time = clocks(sampler->ran);

    if (taken->masked)
        encoder_masked(&sampler->encoder, cpu, time);
    if (!taken->runs) {
        encoder_idle(&sampler->encoder, cpu, time);
        ++sampler->halted;
    } else {
        sampler->scanned += stack->scanned;
        if (stack->stopped != 0)
            encoder_stopped(&sampler->encoder, cpu, time, stack->stopped);
        encoder_sample(&sampler->encoder, cpu, time, stack->addresses,
                       stack->count);
    }
    ++sampler->samples;
}

/* Takes all CPUs of the stopped guest. False if it ran, or is gone. */
static bool take_cpus(struct sampler *sampler, struct taken *taken)
{
    const struct machine *machine = sampler->machine;

    for (size_t i = 0; i < machine->cpu_count; ++i) {
        taken[i].runs = sampler_walk(sampler, i, &taken[i].stack);
        taken[i].masked = machine->cpus[i].registers.masked;
        if (machine->reason != MACHINE_LIVES || machine->late_stop)
            return false;
    }
    return true;
}

static bool read_inside(void *owner, uint64_t address, uint8_t *to,
                        size_t count)
{
    return sampler_read(owner, address, to, count);
}

/* Looks at the guest's own profiler, if it is time to. False as take_cpus(). */
static bool look_inside(struct sampler *sampler, double now)
{
    const struct places_memory memory = {read_inside, sampler};
    const struct machine *machine = sampler->machine;

    sampler->inside.is_new = false;
    if (inside_due(&sampler->inside, now))
        inside_look(&sampler->inside, &memory, now);
    return machine->reason == MACHINE_LIVES && !machine->late_stop;
}

static void write_stop(struct sampler *sampler, const struct taken *taken)
{
    struct inside *inside = &sampler->inside;

    if (inside->is_new)
        encoder_inside(&sampler->encoder, clocks(sampler->ran), inside->uuid,
                       inside->newest);
    inside->is_new = false;
    for (size_t i = 0; i < sampler->machine->cpu_count; ++i)
        write_cpu(sampler, i, &taken[i]);
}

static void take_sample(struct sampler *sampler)
{
    static struct taken taken[MACHINE_CPUS_MAX];
    struct machine *machine = sampler->machine;
    double stopped = seconds_now();
    enum machine_stop stop = machine_stop(machine);
    double now;
    bool ran = stop != MACHINE_HELD;
    uint32_t missed;

    if (ran)
        sampler->ran += stopped - sampler->continued;
    else
        sampler->held += stopped - sampler->continued;
    if (stop == MACHINE_STOPPED &&
        (!take_cpus(sampler, taken) || !look_inside(sampler, stopped)))
        stop = MACHINE_TORN;
    machine_continue(machine);
    now = seconds_now();
    if (stop == MACHINE_STOPPED)
        write_stop(sampler, taken);
    sampler->continued = now;
    sampler->encoder.discarded = machine->torn;
    if (!ran) {
        schedule_resume(&sampler->schedule, now);
        return;
    }
    pauses_add(&sampler->pauses, now - stopped);
    missed = schedule_next(&sampler->schedule, now, sampler->pauses.total);
    sampler->missed += missed;
    sampler->unwritten += missed;
    if (stop != MACHINE_STOPPED)
        return;
    ++sampler->stops;
    if (sampler->unwritten > 0)
        encoder_miss(&sampler->encoder, 0, clocks(sampler->ran),
                     sampler->unwritten);
    sampler->unwritten = 0;
}

void sampler_run(struct sampler *sampler, const char *path)
{
    uint64_t seed = 1;
    double interval = sampler->packets < 0 ? FLUSH_SECONDS : LIVE_SECONDS;
    double flushed;

    if (sampler->packets < 0)
        boots_begin(&sampler->boots, path);
    unwind_places(sampler->unwinder)->tries = TRIES;
    begin_stream(sampler);
    encoder_flush(&sampler->encoder);
    prctl(PR_SET_TIMERSLACK, 1);
    memcpy(&seed, sampler->encoder.uuid, sizeof seed);
    inside_open(&sampler->inside, sampler->image);
    sampler->began = sampler->shown = flushed = seconds_now();
    sampler->schedule.interval = 1 / sampler->hz;
    sampler->schedule.budget = sampler->budget;
    schedule_begin(&sampler->schedule, sampler->began, seed);
    machine_continue(sampler->machine);
    sampler->continued = seconds_now();
    while (wait_until_due(sampler)) {
        take_sample(sampler);
        show_progress(sampler);
        if (sampler->continued - flushed > interval) {
            encoder_flush(&sampler->encoder);
            flushed = sampler->continued;
        }
    }
    sampler->ended = seconds_now();
    encoder_end(&sampler->encoder, clocks(sampler->ran));
    if (sampler->packets < 0)
        boots_end(&sampler->boots);
    index_free(&sampler->seen);
    free(sampler->seen_states);
}

void sampler_report(struct sampler *sampler)
{
    char samples[NUMBER_TEXT_MAX], bytes[NUMBER_TEXT_MAX];
    char missed[NUMBER_TEXT_MAX], torn[NUMBER_TEXT_MAX];
    char halted[NUMBER_TEXT_MAX];
    double span = sampler->ended - sampler->began - sampler->held;
    double median = pauses_part(&sampler->pauses, 0.5);

    if (span <= 0)
        span = 1e-9;
    if (log_quiet || sampler->packets >= 0)
        return;
    log_summary("[ %s: wrote %s, %s samples, %s of halted CPUs ]", log_name,
                number_bytes(sampler->boots.list[0]->writer.written, bytes),
                number_count(sampler->samples, samples),
                number_count(sampler->halted, halted));
    log_summary("[ pause per sample: median %.0f us, p99 %.0f us, worst "
                "%.0f us; %.2f %% of the guest's time ]",
                median * 1e6, pauses_part(&sampler->pauses, 0.99) * 1e6,
                sampler->pauses.worst * 1e6,
                100 * sampler->pauses.total / span);
    log_summary("[ rate: %.1f Hz of %.1f Hz, %s deadlines missed, %s torn "
                "samples discarded ]",
                (double)sampler->stops / span, sampler->hz,
                number_count(sampler->missed, missed),
                number_count(sampler->machine->torn, torn));
    if (sampler->scanned > 0)
        log_summary("[ callers of %s samples by a scan of the stack, which may "
                    "be wrong: above [found by a scan] ]",
                    number_count(sampler->scanned, samples));
    if (sampler->inside.looks > 0)
        log_summary("[ the clock of the guest's own profiler was read %s "
                    "times ]",
                    number_count(sampler->inside.looks, samples));
    places_report(unwind_places(sampler->unwinder));
    if (sampler->held > 0)
        log_summary("[ somebody else held the guest for %.1f s ]",
                    sampler->held);
}
