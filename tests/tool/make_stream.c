/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_stream [--text] [--all] SAMPLES SEED [IMAGE-SYMBOLS]: writes a stream of
 * so many samples to stdout, as packets or as a console log. With --all there
 * is more between them: tasks, misses, and sums of samples.
 *
 * The stacks are of a random tree over the addresses in the file IMAGE-SYMBOLS,
 * hexadecimal, one a line; without it, over 64 addresses of no image. The
 * build-id is that of BUILD_ID in the environment, if there is one; the CPUs
 * are as many as CPUS says there, with a thousand samples each in turns, taken
 * at the same time.
 */

#include "../unit/host/stream_maker.h"
#include "made_tree.h"

#define REFRESH 5000u
#define OTHERS 500u
#define TASKS 3u

static void put_build_id(struct made *made)
{
    const char *hex = getenv("BUILD_ID");
    uint8_t *id = made->packet + made->used - 32;

    for (size_t i = 0; hex != NULL && hex[2 * i] != '\0' && i < 20; ++i) {
        unsigned byte = 0;

        sscanf(hex + 2 * i, "%2x", &byte);
        id[i] = (uint8_t)byte;
    }
}

static void define(struct made *made, uint32_t node)
{
    made_node(made, node, parents[node], node_addresses[node]);
}

#define TURN 1000u

/* Before sample (i): the next CPU's turn, from when the first of them began. */
static void take_turns(struct made *made, unsigned long i)
{
    static uint64_t began;
    const char *text = getenv("CPUS");
    unsigned cpus = text != NULL ? (unsigned)atoi(text) : 1;

    if (cpus <= 1 || cpus > MADE_CPUS || i % TURN != 0)
        return;
    made_flush(made);
    made->cpu = (uint16_t)(i / TURN % cpus);
    if (made->cpu == 0)
        began = made->time;
    made->time = began;
}

/* What is no single sample. The sums are of the time since (OTHERS) samples. */
static void put_others(struct made *made, uint32_t turn)
{
    uint32_t task = 1 + turn % TASKS;
    struct prof_event_task started = {task, node_addresses[task]};
    struct prof_event_overflow overflow = {node_addresses[1 + turn % NODES],
                                           20 + turn, 20000 + turn};
    struct prof_event_drop drop = {7, 7001};

    made_word(made, PROF_EVENT_MISS, 3);
    MADE_EVENT(made, PROF_EVENT_OVERFLOW, overflow);
    MADE_EVENT(made, PROF_EVENT_OVERFLOW, overflow);
    MADE_EVENT(made, PROF_EVENT_DROP, drop);
    MADE_EVENT(made, PROF_EVENT_TASK, started);
    made_word(made, PROF_EVENT_SWITCH_WIDE, turn % 4 == 0 ? 0 : task);
}

static void make_samples(struct made *made, unsigned long samples, bool all)
{
    for (unsigned long i = 0; i < samples; ++i) {
        uint32_t node = sampled_node(i);

        take_turns(made, i);
        if (all && i % OTHERS == OTHERS - 1)
            put_others(made, (uint32_t)(i / OTHERS));
        if (i % REFRESH == REFRESH - 1) {
            made->step = 0;
            define(made, 1 + (uint32_t)(i / REFRESH) % NODES);
            made->step = 1000;
        }
        if (node == 0)
            made_bare(made, PROF_EVENT_IDLE);
        else
            made_sample(made, node);
    }
}

static void write_out(const struct made *made, bool text)
{
    static char lines[128 * 1200];

    if (!text) {
        fwrite(made->bytes, 1, made->count, stdout);
        return;
    }
    for (size_t i = 0; i < made->sequence; ++i) {
        printf("the guest says line %zu\r\n", i);
        fwrite(lines, 1, made_lines(made, i, lines), stdout);
    }
}

int main(int argc, char **argv)
{
    bool text = argc > 1 && strcmp(argv[1], "--text") == 0;
    bool all = argc > 1 + text && strcmp(argv[1 + text], "--all") == 0;
    static struct made made = {.packet_room = PROF_PACKET_DEFAULT};

    argv += text + all;
    argc -= text + all;
    if (argc < 3)
        return 2;
    make_tree((unsigned)atoi(argv[2]), argc > 3 ? argv[3] : NULL);
    made.boot = (uint8_t)atoi(argv[2]);
    made_hello(&made, 64);
    put_build_id(&made);
    made_start(&made, 10000000, 64);
    for (uint32_t node = 1; node <= NODES; ++node)
        define(&made, node);
    made.step = 1000;
    make_samples(&made, strtoul(argv[1], NULL, 10), all);
    made_word(&made, PROF_EVENT_BYE, 0);
    made_flush(&made);
    write_out(&made, text);
    return 0;
}
