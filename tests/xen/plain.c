/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain DOMID SAMPLES walk|map: what `parasite attach xen:` is held against, a
 * plain loop of one call of libxenctrl after the other. "walk" has Xen's
 * library translate each address, as xenctx does; "map" maps all RAM once, and
 * is the fastest that can be had in this way. Prints samples a second.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <xenctrl.h>
#include <xenforeignmemory.h>

#define PAGE 4096u
#define DEPTH_MAX 64
#define ADDRESS 0x000ffffffffff000ull

static xc_interface *xc;
static xenforeignmemory_handle *memory;
static uint32_t domain;
static const uint8_t *ram; /* NULL = each page when it is needed */
static uint64_t pages;
static int *missing;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool read_mapped(uint64_t physical, uint64_t *value)
{
    if (physical / PAGE >= pages || missing[physical / PAGE])
        return false;
    memcpy(value, ram + physical, sizeof *value);
    return true;
}

static bool read_by_tables(uint64_t cr3, uint64_t address, uint64_t *value)
{
    uint64_t table = cr3 & ADDRESS, entry, span;

    for (unsigned shift = 39;; shift -= 9) {
        if (!read_mapped(table + (address >> shift) % 512 * 8, &entry) ||
            (entry & 1) == 0)
            return false;
        span = (1ull << shift) - 1;
        if (shift == 12 || (shift < 39 && (entry & 0x80) != 0))
            break;
        table = entry & ADDRESS;
    }
    return read_mapped((entry & ADDRESS & ~span) | (address & span), value);
}

static bool read_by_calls(uint64_t address, uint64_t *value)
{
    static const uint8_t *page;
    static xen_pfn_t mapped;
    xen_pfn_t frame = xc_translate_foreign_address(xc, domain, 0, address);

    if (frame == 0)
        return false;
    if (page == NULL || frame != mapped) {
        if (page != NULL)
            xenforeignmemory_unmap(memory, (void *)page, 1);
        page = xenforeignmemory_map(memory, domain, PROT_READ, 1, &frame, NULL);
        mapped = frame;
    }
    if (page == NULL)
        return false;
    memcpy(value, page + address % PAGE, sizeof *value);
    return true;
}

static bool read_word(uint64_t cr3, uint64_t address, uint64_t *value)
{
    return ram != NULL ? read_by_tables(cr3, address, value)
                       : read_by_calls(address, value);
}

static void take(void)
{
    vcpu_guest_context_any_t context;
    xc_vcpuinfo_t info;
    uint64_t fp, next, caller, cr3;
    int depth = 0;

    if (xc_domain_pause(xc, domain))
        die("xc_domain_pause");
    if (xc_vcpu_getcontext(xc, domain, 0, &context))
        die("xc_vcpu_getcontext");
    if (xc_vcpu_getinfo(xc, domain, 0, &info))
        die("xc_vcpu_getinfo");
    fp = context.x64.user_regs.rbp;
    cr3 = context.x64.ctrlreg[3];
    while (depth++ < DEPTH_MAX && fp != 0 && read_word(cr3, fp, &next) &&
           read_word(cr3, fp + 8, &caller) && caller != 0 && next > fp)
        fp = next;
    if (xc_domain_unpause(xc, domain))
        die("xc_domain_unpause");
}

static void map_all(void)
{
    xc_dominfo_t info;
    xen_pfn_t *frames;

    if (xc_domain_getinfo(xc, domain, 1, &info) != 1)
        die("xc_domain_getinfo");
    pages = info.nr_pages;
    frames = calloc(pages, sizeof *frames);
    missing = calloc(pages, sizeof *missing);
    for (uint64_t i = 0; i < pages; ++i)
        frames[i] = i;
    ram =
        xenforeignmemory_map(memory, domain, PROT_READ, pages, frames, missing);
    if (ram == NULL)
        die("xenforeignmemory_map");
}

int main(int argc, char **argv)
{
    unsigned long samples;
    double began;

    if (argc != 4)
        return 2;
    domain = (uint32_t)atoi(argv[1]);
    samples = strtoul(argv[2], NULL, 10);
    xc = xc_interface_open(NULL, NULL, 0);
    memory = xenforeignmemory_open(NULL, 0);
    if (xc == NULL || memory == NULL)
        die("xc_interface_open");
    if (strcmp(argv[3], "map") == 0)
        map_all();
    began = now();
    for (unsigned long i = 0; i < samples; ++i)
        take();
    printf("plain %s: %.0f samples/s\n", argv[3],
           (double)samples / (now() - began));
    return 0;
}
