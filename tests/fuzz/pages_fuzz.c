/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds any stream to what draws and exports it: the timeline, flame graphs of
 * samples and of waits, each as a page and as a picture, and the formats of
 * other tools. None may write or compute without end. Linked with
 * --wrap=die.
 *
 * The first byte of the input says what is written; the checksums are made
 * right, so that the fuzzer gets at the events.
 */

#define _GNU_SOURCE /* fopencookie(), memmem() */

#include "fuzz.h"

#include "base/log.h"
#include "causal/causal.h"
#include "export/export.h"
#include "flame/flame.h"
#include "timeline/svg.h"
#include "timeline/timeline.h"
#include "mended_packets.h"

#include <setjmp.h>
#include <sys/time.h>
#include <unistd.h>

#define OUTPUT_MAX (64u << 20)
#define CPU_SECONDS_MAX 100
#define KINDS 11u

_Noreturn void __wrap_die(const char *format, ...);

static char path[] = "/tmp/pages_fuzz.XXXXXX";
static jmp_buf died;

/* A message is all right; what was allocated before it is not freed. */
void __wrap_die(const char *format, ...)
{
    (void)format;
    longjmp(died, 1);
}

static ssize_t count_bytes(void *cookie, const char *bytes, size_t count)
{
    size_t *sum = cookie;

    (void)bytes;
    *sum += count;
    require(*sum <= OUTPUT_MAX);
    return (ssize_t)count;
}

static void put_trace(const uint8_t *data, size_t bytes)
{
    static int file = -1;
    uint8_t *copy = malloc(bytes + 1);

    if (file < 0) {
        file = mkstemp(path);
        require(file >= 0);
    }
    memcpy(copy, data, bytes);
    mend(copy, bytes);
    require(ftruncate(file, 0) == 0 &&
            pwrite(file, copy, bytes, 0) == (ssize_t)bytes);
    free(copy);
}

static void draw_timeline(bool picture, FILE *out)
{
    static const struct svg_range all = {.to = UINT64_MAX};
    struct timeline timeline = {.title = "x"};

    if (timeline_add(&timeline, path, "x")) {
        timeline_finish(&timeline);
        if (picture)
            timeline_write_svg(&timeline, &all, out);
        else
            timeline_write_page(&timeline, out);
    }
    timeline_free(&timeline);
}

static void draw_flame(bool waits, bool picture, FILE *out)
{
    struct view view = {
        .input = path, .lines = true, .by_task = waits, .waits = waits};
    struct flame flame = {.by_time = true};

    view_open(&view);
    if (waits)
        flame_add_waits(&flame, &view);
    else
        flame_add(&flame, &view, FLAME_NEW, NULL);
    if (flame_nodes(&flame) > 0) {
        flame_finish(&flame);
        flame.title = strings_put(&flame.strings, "x");
        if (picture)
            flame_write_svg(&flame, out);
        else
            flame_write_page(&flame, out);
    }
    flame_free(&flame);
    view_close(&view);
}

static void export(bool (*write)(struct view *view, FILE *out), FILE *out)
{
    struct view view = {.input = path, .lines = true, .weight = MODEL_CLOCKS};

    view_open(&view);
    write(&view, out);
    view_close(&view);
}

static void take(void *causal, const struct packet *packet)
{
    causal_take(causal, packet);
}

static void export_coz(const uint8_t *data, size_t bytes, FILE *out)
{
    struct causal causal = {0};
    struct packet_sink sink = {take, &causal};
    uint8_t *copy = malloc(bytes + 1);
    uint64_t garbage = 0;

    memcpy(copy, data, bytes);
    mend(copy, bytes);
    packet_scan(copy, bytes, true, &sink, &garbage);
    causal_write_coz(&causal, true, out);
    causal_free(&causal);
    free(copy);
}

static void write_kind(unsigned kind, const uint8_t *data, size_t bytes,
                       FILE *out)
{
    static bool (*const formats[])(struct view *, FILE *) = {
        export_pprof, export_perfetto, export_chrome, export_firefox};

    if (kind < 2)
        draw_timeline(kind == 1, out);
    else if (kind < 6)
        draw_flame(kind / 4 == 1, kind % 2 == 1, out);
    else if (kind < 10)
        export(formats[kind - 6], out);
    else
        export_coz(data, bytes, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct itimerval limit = {.it_value.tv_sec = CPU_SECONDS_MAX},
                           none = {0};
    static size_t sum;
    FILE *out;

    if (bytes < 2)
        return 0;
    log_quiet = true;
    sum = 0;
    out = fopencookie(&sum, "w", (cookie_io_functions_t){.write = count_bytes});
    put_trace(data + 1, bytes - 1);
    setitimer(ITIMER_PROF, &limit, NULL);
    if (setjmp(died) == 0)
        write_kind(data[0] % KINDS, data + 1, bytes - 1, out);
    setitimer(ITIMER_PROF, &none, NULL);
    fclose(out);
    return 0;
}
