/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live readers: they get a guest's bytes as they come, and the guest gets
 * their commands, line by line. A reader that is slower than its guest loses
 * bytes, which shows as packets that are missing; nobody else waits for it.
 */

#include "collect/parts.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MS                                                              \
    60000 /* that a reader has to take an answer, or of a file
                           some more */
#define FILE_BYTES (1u << 16)
#define FILE_PIECES 16u

static void close_reader(struct collector *collector, struct reader *reader)
{
    unwatch_and_close(collector, &reader->handle);
    if (reader->from >= 0)
        close(reader->from);
    reader->from = -1;
    reader->guest = NULL;
}

static void watch_reader(struct collector *collector, struct reader *reader,
                         bool out)
{
    if (reader->watches_out == out)
        return;
    reader->watches_out = out;
    watch(collector, &reader->handle,
          (reader->silent ? 0u : EPOLLIN) | (out ? EPOLLOUT : 0u), false);
}

/* Who has asked may say that it is done with that (shutdown(), nc -N), and is
 * answered to the end all the same. */
static void end_of_input(struct collector *collector, struct reader *reader)
{
    if (!reader->ending) {
        close_reader(collector, reader);
        return;
    }
    reader->silent = true;
    reader->watches_out = false; /* so that it is watched anew */
    watch_reader(collector, reader, true);
}

/* False: there is no room for it. */
static bool put_bytes(struct reader *reader, const void *bytes, size_t count,
                      size_t room)
{
    if (reader->out_bytes - reader->out_sent + count > room)
        return false;
    if (reader->out_sent > 0) {
        memmove(reader->out, reader->out + reader->out_sent,
                reader->out_bytes - reader->out_sent);
        reader->out_bytes -= reader->out_sent;
        reader->out_sent = 0;
    }
    reader->out = xreallocarray(reader->out, reader->out_bytes + count, 1);
    memcpy(reader->out + reader->out_bytes, bytes, count);
    reader->out_bytes += count;
    return true;
}

/* Reads on in the file that follows. False: there is no more. */
static bool read_on(struct reader *reader)
{
    static uint8_t bytes[FILE_BYTES];
    ssize_t count;

    if (reader->from < 0)
        return false;
    count = read(reader->from, bytes, sizeof bytes);
    return count > 0 && put_bytes(reader, bytes, (size_t)count, READER_ROOM);
}

/* Sends what waits; of a file some pieces, and the rest when there is room
 * again, so that nobody waits for it. */
static void send_waiting(struct collector *collector, struct reader *reader)
{
    unsigned pieces = 0;

    while (reader->handle.file >= 0 &&
           (reader->out_sent < reader->out_bytes || read_on(reader))) {
        ssize_t sent;

        if (reader->from >= 0 && ++pieces > FILE_PIECES) {
            watch_reader(collector, reader, true);
            return;
        }
        sent = send(reader->handle.file, reader->out + reader->out_sent,
                    reader->out_bytes - reader->out_sent,
                    MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            watch_reader(collector, reader, true);
            return;
        }
        if (sent < 0) {
            close_reader(collector, reader);
            return;
        }
        if (reader->from >= 0)
            reader->begun = steady_ms();
        reader->out_sent += (size_t)sent;
        collector->counters.reader_bytes += (uint64_t)sent;
    }
    reader->out_bytes = reader->out_sent = 0;
    if (reader->handle.file < 0)
        return;
    watch_reader(collector, reader, false);
    if (reader->ending)
        close_reader(collector, reader);
}

static struct reader *add_reader(struct collector *collector, int file)
{
    struct reader *reader = xreallocarray(NULL, 1, sizeof *reader);

    *reader = (struct reader){
        .handle = {HANDLE_READER, file}, .begun = steady_ms(), .from = -1};
    VECTOR_ADD(collector->readers, collector->reader_count, reader);
    watch(collector, &reader->handle, EPOLLIN, true);
    return reader;
}

void readers_add(struct collector *collector, int file,
                 struct guest_boot *guest)
{
    struct reader *reader = add_reader(collector, file);

    reader->guest = guest;
    put_bytes(reader, "ok\n", 3, READER_ROOM);
    send_waiting(collector, reader);
}

void readers_answer(struct collector *collector, int file, const void *bytes,
                    size_t count)
{
    struct reader *reader = add_reader(collector, file);

    reader->ending = true;
    put_bytes(reader, bytes, count, SIZE_MAX);
    send_waiting(collector, reader);
}

void readers_send_file(struct collector *collector, int file, const char *line,
                       int from)
{
    struct reader *reader = add_reader(collector, file);

    reader->ending = true;
    reader->from = from;
    put_bytes(reader, line, strlen(line), READER_ROOM);
    send_waiting(collector, reader);
}

void readers_await(struct collector *collector, int file, const char *line,
                   uint32_t capture)
{
    struct reader *reader = add_reader(collector, file);

    reader->capture = capture;
    put_bytes(reader, line, strlen(line), READER_ROOM);
    send_waiting(collector, reader);
}

struct reader *readers_of_capture(struct collector *collector, uint32_t capture)
{
    for (size_t i = 0; i < collector->reader_count; ++i)
        if (collector->readers[i]->handle.file >= 0 &&
            collector->readers[i]->capture == capture)
            return collector->readers[i];
    return NULL;
}

void readers_tell(struct collector *collector, struct reader *reader,
                  const void *bytes, size_t count)
{
    reader->ending = true;
    reader->begun = steady_ms();
    put_bytes(reader, bytes, count, SIZE_MAX);
    send_waiting(collector, reader);
}

void readers_pass(struct collector *collector, struct guest_boot *guest,
                  const void *bytes, size_t count)
{
    for (size_t i = 0; i < collector->reader_count; ++i) {
        struct reader *reader = collector->readers[i];

        if (reader->guest != guest)
            continue;
        if (!put_bytes(reader, bytes, count, READER_ROOM))
            collector->counters.reader_dropped += count;
        else if (!reader->watches_out)
            send_waiting(collector, reader);
    }
}

static void take_line(struct collector *collector, struct reader *reader)
{
    char answer[2 * SEND_LINE_MAX];

    reader->line[reader->line_bytes] = '\0';
    reader->line_bytes = 0;
    if (*reader->line == '\0' || reader->guest == NULL ||
        guest_command(collector, reader->guest, reader->line) ||
        strcmp(reader->line, "hello") == 0)
        return;
    snprintf(answer, sizeof answer,
             "\n" PROF_ANSWER_MARK "error: \"%s\": the guest's line takes no "
             "commands\n",
             reader->line);
    put_bytes(reader, answer, strlen(answer), READER_ROOM);
    send_waiting(collector, reader);
}

static void read_commands(struct collector *collector, struct reader *reader,
                          bool is_gone)
{
    char bytes[1024];
    ssize_t count = read(reader->handle.file, bytes, sizeof bytes);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count == 0 && !is_gone) {
        end_of_input(collector, reader);
        return;
    }
    if (count <= 0) {
        close_reader(collector, reader);
        return;
    }
    for (ssize_t i = 0; i < count && reader->handle.file >= 0; ++i) {
        if (bytes[i] == '\n')
            take_line(collector, reader);
        else if (reader->line_bytes < sizeof reader->line - 1)
            reader->line[reader->line_bytes++] = bytes[i];
    }
}

void readers_event(struct collector *collector, struct reader *reader,
                   uint32_t events)
{
    if (reader->handle.file >= 0 && (events & EPOLLOUT))
        send_waiting(collector, reader);
    if (reader->handle.file >= 0 && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        read_commands(collector, reader, (events & (EPOLLHUP | EPOLLERR)) != 0);
}

/* The next boot on the same line has no readers: the end says so to them, when
 * they have taken what waits for them. */
void readers_leave(struct collector *collector, const struct guest_boot *guest)
{
    for (size_t i = 0; i < collector->reader_count; ++i) {
        struct reader *reader = collector->readers[i];

        if (reader->guest != guest)
            continue;
        reader->guest = NULL;
        reader->ending = true;
        reader->begun = steady_ms();
        send_waiting(collector, reader);
    }
}

void readers_sweep(struct collector *collector)
{
    int64_t now = steady_ms();
    size_t kept = 0;

    for (size_t i = 0; i < collector->reader_count; ++i) {
        struct reader *reader = collector->readers[i];

        if (reader->ending && reader->begun + ANSWER_MS < now) {
            collector->counters.reader_dropped +=
                reader->out_bytes - reader->out_sent;
            close_reader(collector, reader);
        }
        if (reader->handle.file >= 0) {
            collector->readers[kept++] = reader;
            continue;
        }
        free(reader->out);
        free(reader);
    }
    collector->reader_count = kept;
}

void readers_close(struct collector *collector)
{
    for (size_t i = 0; i < collector->reader_count; ++i)
        close_reader(collector, collector->readers[i]);
    readers_sweep(collector);
    free(collector->readers);
}
