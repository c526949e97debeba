/* SPDX-License-Identifier: Apache-2.0 */

/*
 * trace_ours LIVES FILE: records these lives with the recorder of
 * <prof/trace.h>, and writes its packets to FILE. Prints the CPU time of an
 * event in the recorder, the same with the encoding of packets, and how many
 * events were lost.
 */

#include "sample/cpu_state.h"
#include "stream/stream.h"
#include "trace/send.h"

#include <prof/port.h>
#include <prof/prof.h>
#include <prof/trace.h>
#include <stdio.h>
#include <stdlib.h>

static PROF_TRACE_SITE(site, "task");
static PROF_TRACE_NAME(waiting, "waiting");

#define CREATE() prof_trace_create(PROF_TRACE_TASK, &site)
#define SWITCH(task) prof_trace_switch(task)
#define TRY_READ(task) prof_trace_try_read(task)
#define SUSPEND() prof_trace_suspend(&waiting)
#define WAKE(task) prof_trace_wake(task, PROF_TRACE_NONE)
#define READ(task) prof_trace_read(task)
#define RESOLVE(task) prof_trace_resolve(task)
#include "trace_lives.h"

struct prof_cpu prof_cpus[PROF_CPUS_MAX]; /* nothing is sampled */

static FILE *file;

void prof_port_write(const char *text, size_t bytes)
{
    (void)text;
    (void)bytes;
}

void *prof_port_alloc(size_t bytes)
{
    return malloc(bytes);
}

void prof_port_free(void *memory)
{
    free(memory);
}

static bool open_file(void)
{
    return true;
}

static bool send_packet(const void *packet, size_t bytes)
{
    return fwrite(packet, 1, bytes, file) == bytes;
}

static const struct prof_transport transport = {
    .name = "file", .open = open_file, .send = send_packet};

static struct prof_stream_node *no_tree(uint32_t node)
{
    (void)node;
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct prof_config config = {.tsc_hz = 1000000000,
                                              .text = {0x1000, 0x2000}};
    size_t bytes = 4u << 20, lives = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    uint64_t recording = 0, all = 0, begin, between;
    struct prof_trace_stats stats;

    if (lives == 0 || (file = fopen(argv[2], "wb")) == NULL ||
        prof_trace_open(malloc(bytes), bytes) != 0)
        return 2;
    prof_stream_open(prof_cpu_here(), &(struct prof_stream_settings){
                                          &transport, no_tree, &config, {0}});
    if (prof_trace_set_mode(PROF_TRACE_STREAM) != 0)
        return 1;
    for (size_t done = 0; done < lives;) {
        begin = cpu_ns();
        for (size_t end = done + 2048; done < end && done < lives;
             done += LIVES_AT_ONCE)
            some_lives();
        between = cpu_ns();
        prof_trace_flush();
        recording += between - begin;
        all += cpu_ns() - begin;
    }
    prof_stream_end(prof_cpu_here(), __builtin_ia32_rdtsc(), 0);
    prof_trace_stats(&stats);
    printf("%.2f %.2f %llu\n", (double)recording / (double)stats.events,
           (double)all / (double)stats.events, (unsigned long long)stats.lost);
    return fclose(file) == 0 ? 0 : 1;
}
