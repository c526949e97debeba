/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MADE_TREE_H
#define MADE_TREE_H

/*
 * A random tree of call stacks over given addresses, and random samples of it:
 * the same for the same seed, whatever format they are written in.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef NODES
#define NODES 1000u
#endif
#define ADDRESSES_MAX 4096u
#define ADDRESSES_MIN 64u

static uint64_t addresses[ADDRESSES_MAX];
static size_t address_count;
static uint32_t parents[NODES + 1];
static uint64_t node_addresses[NODES + 1];

static uint32_t chance(void)
{
    return (uint32_t)rand() >> 3;
}

/* From the file (path), hexadecimal, one a line; or made up. */
static void read_addresses(const char *path)
{
    FILE *in = path != NULL ? fopen(path, "r") : NULL;
    unsigned long long address;

    while (in != NULL && address_count < ADDRESSES_MAX &&
           fscanf(in, "%llx%*[^\n]", &address) == 1)
        addresses[address_count++] = address;
    if (in != NULL)
        fclose(in);
    while (address_count < ADDRESSES_MIN) {
        addresses[address_count] = 0x100000 + address_count * 64;
        ++address_count;
    }
}

static void make_tree(unsigned seed, const char *path)
{
    srand(seed);
    read_addresses(path);
    for (uint32_t node = 1; node <= NODES; ++node) {
        parents[node] = node > 4 ? 1 + chance() % (node - 1) : 0;
        node_addresses[node] = addresses[chance() % address_count] + 1;
    }
}

/* The node of the sample numbered (i), 0 = idle. One call for each. */
static uint32_t sampled_node(unsigned long i)
{
    uint32_t node = 1 + chance() % NODES;

    return i % 16 == 15 ? 0 : node;
}

#endif
