/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving from a guest across its restarts. */

#include "input/live.h"

#include "base/checked.h"
#include "base/log.h"
#include "base/wait.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define AGAIN_SECONDS 0.25
#define RAM_WAIT_MS 10

static void begin_boot(struct live *live, const struct packet *packet)
{
    model_free(&live->model);
    memcpy(live->uuid, packet->uuid, sizeof live->uuid);
    live->lost_before = 0;
    live->late = packet->sequence > 0;
    ++live->boots;
    if (live->late && live->request->guest == NULL)
        send_hello_request(&live->request->sender);
}

/* A repeated packet would count twice: packets of a CPU come in order. */
static void take_packet(void *owner, const struct packet *packet)
{
    struct live *live = owner;
    const struct model_cpu *cpu;

    if (live->boots == 0 ||
        memcmp(live->uuid, packet->uuid, sizeof live->uuid) != 0)
        begin_boot(live, packet);
    cpu = model_cpu(&live->model, packet->cpu);
    if (cpu == NULL)
        live->lost_before = checked_add(live->lost_before, packet->discarded);
    else if (packet->sequence < cpu->order.next)
        return;
    model_take(&live->model, packet);
    if (live->also.take != NULL)
        live->also.take(live->also.owner, packet);
}

static bool is_open(const struct live *live)
{
    return live->target.file >= 0 ||
           (live->target.is_ram && live->share.ram != NULL);
}

static void close_line(struct live *live)
{
    if (live->target.file >= 0)
        close(live->target.file);
    live->target.file = -1;
    shared_ring_close(&live->share);
    scanner_end(&live->scanner);
    console_end(&live->console);
    live->scanner = (struct scanner){.sink = {take_packet, live}};
    live->console = (struct console){.sink = {take_packet, live}};
}

static ino_t file_number(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 ? about.st_ino : 0;
}

static bool open_ram(struct live *live, char *why)
{
    const char *path = live->target.path;

    live->ram_file = file_number(path);
    if (shared_ring_open(&live->share, path, live->ring))
        return true;
    snprintf(why, TARGET_WHY_MAX, "shm:%s: no such file yet", path);
    return false;
}

/* Opens the connection if there is another end; otherwise writes the reason to
 * (why), which has room for TARGET_WHY_MAX. */
static bool open_line(struct live *live, char *why)
{
    struct request *request = live->request;

    live->tried = seconds_now();
    if (request->target != NULL &&
        !target_try(&live->target, request->target, TARGET_STREAM, why,
                    TARGET_WHY_MAX))
        return false;
    if (live->target.is_ram && !open_ram(live, why))
        return false;
    if (request->target != NULL &&
        !request_prepare(request, &live->target, why, TARGET_WHY_MAX)) {
        close_line(live);
        return false;
    }
    live->why[0] = '\0';
    return true;
}

void live_open(struct live *live, struct request *request,
               const struct image *image, FILE *talk)
{
    *live = (struct live){.request = request, .target.file = -1};
    live->scanner.sink = (struct packet_sink){take_packet, live};
    live->console.sink = (struct packet_sink){take_packet, live};
    if (request->guest != NULL) {
        if (request->transport == GUEST_SHM)
            live->ring = request_ring(request, image);
        live->guest.talk = talk;
        guest_start(&live->guest, request->guest, request->transport,
                    request->hz, request->depth);
        live->target = guest_target(&live->guest);
        return;
    }
    if (strncmp(request->target, "shm:", 4) == 0)
        live->ring = request_ring(request, image);
    if (!open_line(live, live->why) && !live->target.is_ram)
        die("%s", live->why);
}

/* The connection was closed: for good, or until there is another guest. */
static void lose_line(struct live *live)
{
    bool ours = live->request->guest != NULL;
    bool file = !ours && !live->target.two_way && !live->target.is_ram;

    close_line(live);
    live->ended = ours || file;
    if (ours)
        snprintf(live->why, sizeof live->why, "the guest has ended");
    else
        snprintf(live->why, sizeof live->why, "%s: %s",
                 file ? "end of file" : "guest ended or disconnected, waiting",
                 live->request->target);
}

static void read_file(struct live *live)
{
    static uint8_t bytes[1 << 16];
    ssize_t count = read(live->target.file, bytes, sizeof bytes);

    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (count <= 0) {
        lose_line(live);
        return;
    }
    send_receive(&live->request->sender, bytes, (size_t)count);
    scanner_feed(&live->scanner, bytes, (size_t)count);
    console_feed(&live->console, bytes, (size_t)count);
}

/* After a restart the guest's RAM may be another file of the same name. */
static void read_ram(struct live *live)
{
    bool over = live->request->guest != NULL && !guest_runs(&live->guest);

    shared_ring_read(&live->share, &live->scanner.sink);
    if (live->share.damaged)
        die("shm:%s: the ring in it is damaged", live->target.path);
    if (over)
        lose_line(live);
    else if (file_number(live->target.path) != live->ram_file)
        close_line(live);
}

static void open_again(struct live *live)
{
    char why[TARGET_WHY_MAX]; /* the reason that the user has seen */

    if (live->ended || is_open(live) ||
        seconds_now() - live->tried < AGAIN_SECONDS)
        return;
    if (live->request->guest == NULL)
        open_line(live, why);
    else if (!open_ram(live, why) && !guest_runs(&live->guest))
        lose_line(live);
}

void live_wait(struct live *live, int other, int wait_ms)
{
    struct pollfd waits[2] = {{.fd = other, .events = POLLIN},
                              {.events = POLLIN}};
    bool ram = live->target.is_ram;

    open_again(live);
    waits[1].fd = live->target.file;
    if (ram && is_open(live) && wait_ms > RAM_WAIT_MS)
        wait_ms = RAM_WAIT_MS;
    else if (!is_open(live) && wait_ms > (int)(AGAIN_SECONDS * 1000))
        wait_ms = (int)(AGAIN_SECONDS * 1000);
    wait_for(waits, 2, seconds_now() + wait_ms / 1000.0, 0);
    if (live->request->guest != NULL)
        guest_copy_errors(&live->guest);
    if (live->target.file >= 0 && waits[1].revents != 0)
        read_file(live);
    if (ram && live->share.ram != NULL)
        read_ram(live);
    if (is_open(live) && live->request->guest == NULL)
        send_step(&live->request->sender);
}

const char *live_silence(struct live *live)
{
    if (live->request->target != NULL && is_open(live) &&
        send_is_held(&live->request->sender))
        return "another client is connected to the guest; waiting";
    return "nothing received yet";
}

uint64_t live_lost(const struct live *live)
{
    uint64_t lost = model_lost(&live->model);

    return lost > live->lost_before ? lost - live->lost_before : 0;
}

int live_close(struct live *live)
{
    bool ours = live->request->guest != NULL;

    if (ours && live->ended)
        while (guest_runs(&live->guest) &&
               wait_until(seconds_now() + RAM_WAIT_MS / 1000.0))
            continue;
    if (ours)
        guest_stop(&live->guest);
    close_line(live);
    model_free(&live->model);
    if (!ours)
        return STATUS_OK;
    live->guest.stream = -1; /* closed with the target */
    guest_free(&live->guest);
    return guest_code(&live->guest);
}
