/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_stream [--text] SAMPLES SEED [IMAGE-SYMBOLS]: writes a stream of so many
 * samples to stdout, as packets or as a console log.
 *
 * The stacks are of a random tree over the addresses in the file IMAGE-SYMBOLS,
 * hexadecimal, one a line; without it, over 64 addresses of no image. The
 * build-id is that of BUILD_ID in the environment, if there is one.
 */

#include "../unit/stream_maker.h"

#define NODES 1000u
#define REFRESH 5000u

static uint64_t addresses[4096];
static size_t address_count;
static uint32_t parents[NODES + 1];
static uint64_t node_addresses[NODES + 1];

static uint32_t chance(void)
{
    return (uint32_t)rand() >> 3;
}

static void read_addresses(const char *path)
{
    FILE *in = path != NULL ? fopen(path, "r") : NULL;
    unsigned long long address;

    while (in != NULL && address_count < 4096 &&
           fscanf(in, "%llx%*[^\n]", &address) == 1)
        addresses[address_count++] = address;
    if (in != NULL)
        fclose(in);
    while (address_count < 64) {
        addresses[address_count] = 0x100000 + address_count * 64;
        ++address_count;
    }
}

static void make_tree(struct made *made)
{
    for (uint32_t node = 1; node <= NODES; ++node) {
        parents[node] = node > 4 ? 1 + chance() % (node - 1) : 0;
        node_addresses[node] = addresses[chance() % address_count] + 1;
        made_node(made, node, parents[node], node_addresses[node]);
    }
}

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

static void make_samples(struct made *made, unsigned long samples)
{
    for (unsigned long i = 0; i < samples; ++i) {
        uint32_t node = 1 + chance() % NODES;

        if (i % REFRESH == REFRESH - 1) {
            made->step = 0;
            made_node(made, node, parents[node], node_addresses[node]);
            made->step = 1000;
        }
        if (i % 16 == 15)
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
    static struct made made = {.packet_room = PROF_PACKET_DEFAULT};

    argv += text;
    argc -= text;
    if (argc < 3)
        return 2;
    srand((unsigned)atoi(argv[2]));
    read_addresses(argc > 3 ? argv[3] : NULL);
    made.boot = (uint8_t)atoi(argv[2]);
    made_hello(&made, 64);
    put_build_id(&made);
    made_start(&made, 10000000, 64);
    make_tree(&made);
    made.step = 1000;
    make_samples(&made, strtoul(argv[1], NULL, 10));
    made_word(&made, PROF_EVENT_BYE, 0);
    made_flush(&made);
    write_out(&made, text);
    return 0;
}
