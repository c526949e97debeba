/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of a recording. It never waits for long, so that time limit,
 * terminal and guest are checked even when no bytes come. RAM gives no notice
 * of new bytes and is checked every millisecond. */

#include "input/capture.h"

#include "base/log.h"
#include "base/text.h"
#include "base/wait.h"
#include "trace/metadata.h"

#include <errno.h>
#include <prof/format.h>
#include <string.h>
#include <unistd.h>

#define WAIT_SECONDS 0.1
#define RAM_WAIT_SECONDS 1e-3
#define REST_READS_MAX 64u
#define PROGRESS_SECONDS 0.25

static void check_image(struct capture *capture, struct boot *boot)
{
    if (capture->image == NULL || boot->checked ||
        boot->model.hello.version == 0)
        return;
    if (!image_fits(capture->image, &boot->model.hello, capture->force))
        capture->refused = true;
    boot->checked = true;
}

static void take_packet(void *owner, const struct packet *packet)
{
    struct capture *capture = owner;
    struct boot *boot = boots_take(&capture->boots, packet);

    if (boot == NULL)
        return;
    if (boot->writer.index.count == 1 && packet->sequence > 0 &&
        capture->sender != NULL)
        send_hello_request(capture->sender);
    check_image(capture, boot);
}

static void take_from_text(void *owner, const struct packet *packet)
{
    struct capture *capture = owner;

    ++capture->from_text;
    take_packet(owner, packet);
}

/* What the guest printed between the lines of a stream on its console. */
static void show_line(void *owner, const char *line, size_t bytes)
{
    (void)owner;
    (void)!write(STDOUT_FILENO, line, bytes);
}

static void show_progress(struct capture *capture)
{
    const struct boot *boot = capture->boots.now;
    uint64_t samples = model_samples(&boot->model);
    char count[NUMBER_TEXT_MAX], lost[NUMBER_TEXT_MAX], bytes[NUMBER_TEXT_MAX];
    double time = seconds_now(), span = time - capture->began;

    if (time - capture->shown < PROGRESS_SECONDS || !log_shows_progress())
        return;
    log_progress("[ %s: %.1f s, %s samples, %.0f/s, %s lost, %s ]", log_name,
                 span, number_count(samples, count), (double)samples / span,
                 number_count(model_lost(&boot->model), lost),
                 number_bytes(boot->writer.index.bytes, bytes));
    capture->shown = time;
}

static void capture_step(struct capture *capture, struct guest *guest)
{
    if (guest != NULL)
        guest_copy_errors(guest);
    if (capture->sender != NULL && send_step(capture->sender) == SEND_WAITS)
        capture->timed = seconds_now();
    show_progress(capture);
}

void capture_begin(struct capture *capture, const char *path)
{
    boots_begin(&capture->boots, path);
    capture->scanner.sink = (struct packet_sink){take_packet, capture};
    capture->console.sink = (struct packet_sink){take_from_text, capture};
    capture->console.other = capture->show_text ? show_line : NULL;
    capture->began = capture->timed = capture->shown = seconds_now();
    signals_catch();
}

static bool time_is_over(const struct capture *capture)
{
    return signals_caught() || capture->refused || capture->share.damaged ||
           (capture->sender != NULL && capture->sender->state == SEND_FAILED) ||
           (capture->seconds > 0 &&
            seconds_now() - capture->timed >= capture->seconds);
}

/* Reads what is available; false at the end. */
static bool read_some(struct capture *capture, int file)
{
    static uint8_t bytes[1 << 18];
    ssize_t count = read(file, bytes, sizeof bytes);

    if (count < 0)
        return errno == EINTR || errno == EAGAIN;
    if (capture->sender != NULL)
        send_receive(capture->sender, bytes, (size_t)count);
    scanner_feed(&capture->scanner, bytes, (size_t)count);
    console_feed(&capture->console, bytes, (size_t)count);
    return count > 0;
}

static void run_file(struct capture *capture, int file, struct guest *guest)
{
    while (!time_is_over(capture)) {
        bool ready = wait_readable(file, seconds_now() + WAIT_SECONDS, 0);

        capture_step(capture, guest);
        if (ready && !read_some(capture, file))
            return;
    }
    if (guest == NULL)
        return;
    guest_stop(guest);
    /* what is in the pipe, of which somebody else may hold the other end */
    for (unsigned i = 0; i < REST_READS_MAX && wait_readable(file, 0, 0) &&
                         read_some(capture, file);
         ++i)
        ;
}

static void run_ram(struct capture *capture, const char *path,
                    struct guest *guest, uint64_t ring)
{
    bool open = false, last = false;

    while (!last) {
        last = time_is_over(capture) || (guest != NULL && !guest_runs(guest)) ||
               (guest == NULL && capture->seconds <= 0);
        if (last && guest != NULL)
            guest_stop(guest);
        if (!open)
            open = shared_ring_open(&capture->share, path, ring);
        if (last)
            shared_ring_read_rest(&capture->share, &capture->scanner.sink);
        else if (!shared_ring_read(&capture->share, &capture->scanner.sink))
            wait_until(seconds_now() + RAM_WAIT_SECONDS);
        capture_step(capture, guest);
    }
    if (capture->share.damaged)
        log_error("shm:%s: the ring in it is damaged", path);
    capture->refused = capture->refused || capture->share.damaged;
    if (!open && guest == NULL)
        die("shm:%s: no such file, or no ring at %#llx in it", path,
            (unsigned long long)ring);
}

void capture_run(struct capture *capture, const struct target *target,
                 struct guest *guest, uint64_t ring)
{
    if (target->is_ram)
        run_ram(capture, target->path, guest, ring);
    else
        run_file(capture, target->file, guest);
    if (guest == NULL)
        return;
    while (guest_runs(guest) && !time_is_over(capture))
        wait_until(seconds_now() + RAM_WAIT_SECONDS);
    guest_stop(guest);
}

/* Bytes that belong to no packet and to no answer of the guest. */
static uint64_t garbage(const struct capture *capture)
{
    uint64_t bytes = capture->scanner.garbage;
    uint64_t answers =
        capture->sender != NULL ? capture->sender->answers.bytes : 0;

    if (capture->from_text > 0 || answers >= bytes)
        return 0;
    return bytes - answers;
}

struct damage {
    uint64_t count;
    const char *what;
};

/* One line for each kind of damage, after (where). */
static void log_kinds(const struct damage *damage, size_t kinds,
                      const char *where)
{
    for (size_t i = 0; i < kinds; ++i) {
        char count[NUMBER_TEXT_MAX];

        if (damage[i].count > 0)
            log_info("%s%s%s %s", where, *where != '\0' ? ": " : "",
                     number_count(damage[i].count, count), damage[i].what);
    }
}

/* Damage that the decoders found, in whichever boot. */
static void log_damage(const struct capture *capture)
{
    const struct damage damage[] = {
        {garbage(capture), "bytes outside whole packets were skipped"},
        {capture->console.bad_lines, "#prof lines were damaged"},
        {capture->console.cut_packets, "packets lack a #prof line"},
        {capture->console.bad_packets, "packets in #prof lines were damaged"},
        {capture->share.overwritten,
         "bytes were overwritten before they were read"},
        {capture->boots.left_out, "packets of too many boots were left out"},
    };

    log_kinds(damage, sizeof damage / sizeof damage[0], "");
}

/* What a boot's trace has and lacks; its folder is named among several. */
static void log_boot(const struct capture *capture, const struct boot *boot,
                     bool several)
{
    const struct damage damage[] = {
        {packet_index_missing(&boot->writer.index), "packets are missing"},
        {boot->writer.index.repeated, "repeated packets were omitted"},
        {boot->writer.index.excess, "packets beyond the limits were left out"},
        {boot->model.unread_packets, "packets could not be decoded"},
        {boot->model.unkept_samples,
         "samples have no stack: there were too many"},
    };
    char samples[NUMBER_TEXT_MAX], lost[NUMBER_TEXT_MAX],
        bytes[NUMBER_TEXT_MAX];
    const char *where = several ? boot->writer.path : "";

    metadata_check_version(&boot->model.hello);
    if (capture->hz > 0 && boot->model.rate_mhz > 0)
        send_check_rate(capture->hz, boot->model.rate_mhz / 1000.0);
    log_kinds(damage, sizeof damage / sizeof damage[0], where);
    if (!log_quiet)
        log_summary("[ %s: wrote %s%s%s, %s samples, %s lost ]", log_name,
                    where, several ? ", " : "",
                    number_bytes(boot->writer.written, bytes),
                    number_count(model_samples(&boot->model), samples),
                    number_count(model_lost(&boot->model), lost));
    if (boot->model.lost_events > 0)
        log_info("%s%s%s events of tasks lost: the guest overwrote them before "
                 "they were sent; prof.trace_kb=%u keeps them",
                 where, several ? ": " : "",
                 number_count(boot->model.lost_events, lost),
                 model_trace_kib(boot->model.lost_at_once));
}

void capture_end(struct capture *capture)
{
    const struct boots *boots = &capture->boots;

    scanner_end(&capture->scanner);
    console_end(&capture->console);
    shared_ring_close(&capture->share);
    boots_end(&capture->boots);
    log_damage(capture);
    if (boots->count > 1)
        log_info("the guest booted %zu times; each boot has a trace of its own",
                 boots->count);
    for (size_t i = 0; i < boots->count; ++i)
        log_boot(capture, boots->list[i], boots->count > 1);
}
