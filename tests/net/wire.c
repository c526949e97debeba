/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lossy wire between a guest and QEMU's user network:
 *
 *     guest -- FOLDER/guest.qemu | FOLDER/guest.wire -- this
 *     this -- FOLDER/host.wire | FOLDER/host.qemu -- user network
 *
 * Each datagram is one frame. Commands come on the standard input, one a line:
 *
 *     bad LOST TWICE DAMAGED LATE    how many frames of a thousand, in either
 *                                    direction, are lost, duplicated, damaged
 *                                    or reordered; all 0 at first
 *     noise COUNT                    sends the guest frames of random bytes,
 *                                    half of them with a plausible beginning
 *     flood COUNT PORT               sends it SYNs from as many addresses,
 *                                    and discards the answers
 *     mute PORT                      drops all segments that the guest sends
 *                                    from PORT, except SYNs; 0: none
 *     say                            prints the counts of frames
 *
 * Random numbers are the same in each run. The program ends with its input.
 */

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FRAME_MAX 2048u
#define LATE_MS 20
#define ETHERNET 14u
#define IP_BYTES 20u
#define TCP_BYTES 20u
#define SYN 2u                /* among the flags */
#define FLOOD_NET 0xc6120000u /* 198.18.0.0/15: for tests, RFC 2544 */
#define FLOOD_MASK 0xfffe0000u
#define GUEST_IP 0x0a00020fu /* as the user network gives it */

struct end {
    int socket;
    struct sockaddr_un qemu; /* where frames for this end go */
    uint8_t mac[6];          /* source of the last frame from there */
    uint8_t late[FRAME_MAX]; /* held back until the next frame has passed */
    size_t late_bytes;
};

static struct end guest, host;
static unsigned lost, twice, damaged, late; /* of a thousand */
static unsigned mute;                       /* a port of the guest, or 0 */

static struct {
    unsigned long passed, lost, twice, damaged, late, answers;
} sums;

static uint32_t dither(void)
{
    static uint32_t state = 2463534242u;

    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static bool hit(unsigned of_a_thousand)
{
    return dither() % 1000 < of_a_thousand;
}

static void fail(const char *what)
{
    fprintf(stderr, "wire: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void name(struct sockaddr_un *address, const char *folder,
                 const char *file)
{
    int bytes;

    address->sun_family = AF_UNIX;
    bytes = snprintf(address->sun_path, sizeof address->sun_path, "%s/%s",
                     folder, file);
    if (bytes < 0 || (size_t)bytes >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        fail(folder);
    }
}

static void open_end(struct end *end, const char *folder, const char *ours,
                     const char *theirs)
{
    struct sockaddr_un here;

    name(&here, folder, ours);
    name(&end->qemu, folder, theirs);
    unlink(here.sun_path);
    end->socket = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (end->socket < 0 ||
        bind(end->socket, (struct sockaddr *)&here, sizeof here) != 0)
        fail(here.sun_path);
}

/* The frame is lost if QEMU has not begun yet or has ended. */
static void put(const struct end *end, const uint8_t *frame, size_t bytes)
{
    (void)sendto(end->socket, frame, bytes, 0,
                 (const struct sockaddr *)&end->qemu, sizeof end->qemu);
}

/* ---- frames between the two ends */

static bool answers_flood(const uint8_t *frame, size_t bytes)
{
    uint32_t to;

    if (bytes < ETHERNET + IP_BYTES || frame[12] != 8 || frame[13] != 0)
        return false;
    to = (uint32_t)frame[30] << 24 | (uint32_t)frame[31] << 16;
    return (to & FLOOD_MASK) == FLOOD_NET;
}

static bool is_muted(const uint8_t *frame, size_t bytes)
{
    const uint8_t *tcp = frame + ETHERNET + IP_BYTES;

    if (mute == 0 || bytes < ETHERNET + IP_BYTES + TCP_BYTES ||
        frame[12] != 8 || frame[13] != 0 || frame[ETHERNET] != 0x45 ||
        frame[ETHERNET + 9] != 6)
        return false;
    return (unsigned)(tcp[0] << 8 | tcp[1]) == mute && (tcp[13] & SYN) == 0;
}

/* Sends the frame that was held back, after the next frame or LATE_MS. */
static void put_late(struct end *to)
{
    if (to->late_bytes != 0)
        put(to, to->late, to->late_bytes);
    to->late_bytes = 0;
}

static void pass(struct end *to, uint8_t *frame, size_t bytes)
{
    if (hit(lost)) {
        sums.lost++;
        return;
    }
    if (hit(damaged)) {
        frame[dither() % bytes] ^= (uint8_t)(1u << dither() % 8);
        sums.damaged++;
    }
    if (hit(late) && to->late_bytes == 0) {
        memcpy(to->late, frame, bytes);
        to->late_bytes = bytes;
        sums.late++;
        return;
    }
    put(to, frame, bytes);
    sums.passed++;
    if (hit(twice)) {
        put(to, frame, bytes);
        sums.twice++;
    }
    put_late(to);
}

static void take(struct end *from, struct end *to)
{
    uint8_t frame[FRAME_MAX];
    ssize_t bytes = recv(from->socket, frame, sizeof frame, 0);

    if (bytes < (ssize_t)ETHERNET)
        return;
    memcpy(from->mac, frame + 6, sizeof from->mac);
    if (from == &guest && answers_flood(frame, (size_t)bytes))
        sums.answers++;
    else if (from == &guest && is_muted(frame, (size_t)bytes))
        sums.lost++;
    else
        pass(to, frame, (size_t)bytes);
}

/* ---- frames made here */

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value & 0xffff);
}

static unsigned checksum(const uint8_t *at, size_t bytes, uint32_t sum)
{
    for (size_t i = 0; i < bytes; i += 2)
        sum += (uint32_t)(at[i] << 8 | at[i + 1]);
    sum = (sum & 0xffff) + (sum >> 16);
    return ~(sum + (sum >> 16)) & 0xffff;
}

static void begin_frame(uint8_t *frame)
{
    memcpy(frame, guest.mac, 6);
    memcpy(frame + 6, host.mac, 6);
    put16(frame + 12, 0x0800);
}

/* A SYN from (source), an address beyond the gateway, to (port). */
static void put_syn(uint32_t source, unsigned port)
{
    uint8_t frame[ETHERNET + IP_BYTES + TCP_BYTES] = {0};
    uint8_t *ip = frame + ETHERNET, *tcp = ip + IP_BYTES;

    begin_frame(frame);
    ip[0] = 0x45;
    put16(ip + 2, IP_BYTES + TCP_BYTES);
    ip[8] = 64;
    ip[9] = 6;
    put32(ip + 12, source);
    put32(ip + 16, GUEST_IP);
    put16(ip + 10, checksum(ip, IP_BYTES, 0));
    put16(tcp, 1024 + dither() % 60000);
    put16(tcp + 2, port);
    put32(tcp + 4, dither());
    tcp[12] = TCP_BYTES / 4 << 4;
    tcp[13] = SYN;
    put16(tcp + 14, 1024);
    put16(tcp + 16,
          checksum(tcp, TCP_BYTES,
                   (source >> 16) + (source & 0xffff) + (GUEST_IP >> 16) +
                       (GUEST_IP & 0xffff) + 6 + TCP_BYTES));
    put(&guest, frame, sizeof frame);
}

/* A frame that is too short, too long or of a random type; or IP or ARP with
 * random contents. */
static void put_noise(void)
{
    uint8_t frame[FRAME_MAX];
    size_t bytes = 1 + dither() % 1600;

    for (size_t i = 0; i < sizeof frame; i++)
        frame[i] = (uint8_t)dither();
    if (hit(500)) {
        begin_frame(frame);
        if (hit(300))
            frame[13] = 6; /* ARP */
        else
            frame[14] = 0x45;
        if (hit(500)) { /* to the guest, with a valid checksum */
            put32(frame + 30, GUEST_IP);
            put16(frame + 24, 0);
            put16(frame + 16, (unsigned)bytes);
            frame[23] = (uint8_t)(hit(500) ? 6 : hit(500) ? 17 : 1);
            put16(frame + 24, checksum(frame + ETHERNET, IP_BYTES, 0));
        }
    }
    put(&guest, frame, bytes);
}

/* ---- commands */

static void execute(const char *line)
{
    unsigned long count;
    unsigned port;

    if (sscanf(line, "bad %u %u %u %u", &lost, &twice, &damaged, &late) == 4)
        return;
    if (sscanf(line, "mute %u", &mute) == 1)
        return;
    if (sscanf(line, "flood %lu %u", &count, &port) == 2) {
        for (uint32_t i = 0; i < count; i++) {
            put_syn(FLOOD_NET | (i & ~FLOOD_MASK), port);
            if (i % 16 == 15)
                usleep(1000);
        }
    } else if (sscanf(line, "noise %lu", &count) == 1) {
        for (unsigned long i = 0; i < count; i++) {
            put_noise();
            if (i % 16 == 15)
                usleep(1000);
        }
    } else if (strncmp(line, "say", 3) == 0) {
        printf("passed %lu lost %lu twice %lu damaged %lu late %lu "
               "answers %lu\n",
               sums.passed, sums.lost, sums.twice, sums.damaged, sums.late,
               sums.answers);
        fflush(stdout);
    } else {
        fprintf(stderr, "wire: unknown command: %s\n", line);
    }
}

int main(int count, char **arguments)
{
    char line[128];
    struct pollfd wait[3] = {{0, POLLIN, 0}};

    if (count != 2) {
        fputs("usage: wire FOLDER\n", stderr);
        return 2;
    }
    setvbuf(stdin, NULL, _IONBF, 0); /* poll() must see each line */
    open_end(&guest, arguments[1], "guest.wire", "guest.qemu");
    open_end(&host, arguments[1], "host.wire", "host.qemu");
    wait[1] = (struct pollfd){guest.socket, POLLIN, 0};
    wait[2] = (struct pollfd){host.socket, POLLIN, 0};
    for (;;) {
        bool any_late = guest.late_bytes != 0 || host.late_bytes != 0;
        int ready = poll(wait, 3, any_late ? LATE_MS : -1);

        if (ready < 0)
            fail("poll");
        if (ready == 0) {
            put_late(&guest);
            put_late(&host);
        }
        if (wait[1].revents != 0)
            take(&guest, &host);
        if (wait[2].revents != 0)
            take(&host, &guest);
        if (wait[0].revents == 0)
            continue;
        if (fgets(line, sizeof line, stdin) == NULL)
            return 0;
        execute(line);
    }
}
