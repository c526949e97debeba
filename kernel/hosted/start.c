/* SPDX-License-Identifier: Apache-2.0 */

/*
 * main() of a service as a Linux process: does what a loader and arch/ do for
 * an image, and calls kernel_main() on the boot stack.
 */

#include "start.h"

#include "interrupts.h"

#include <arch/boot.h>
#include <arch/context.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_DEFAULT_MIB 128u
#define BOOT_STACK_BYTES (1u << 20) /* rules.mk says where it ends */

struct arch_boot arch_boot = {
    .loader = "Linux",
    .memory_map = true,
    .memory_source = "malloc()",
};
_Alignas(4096) char boot_stack_bottom[BOOT_STACK_BYTES];

static size_t memory_bytes = (size_t)MEMORY_DEFAULT_MIB << 20;
static const char *disk, *stream;

size_t hosted_memory_bytes(void)
{
    return memory_bytes;
}

const char *hosted_disk(void)
{
    return disk;
}

const char *hosted_stream(void)
{
    return stream;
}

static void fail(const char *what, const char *value)
{
    fprintf(stderr, "%s: %s\n", value, what);
    exit(2);
}

static const char usage[] =
    "Usage: %s [OPTION]... [KEY=VALUE]...\n"
    "A service of Parasite's reference kernel as a Linux process. The words\n"
    "KEY=VALUE are the command line that the image would have.\n"
    "\n"
    "  --disk FILE     the disk\n"
    "  --module FILE   a boot module; several of them\n"
    "  --stream FILE   where prof.out=uart2 writes, as a file or pipe\n"
    "  --memory MIB    heap of which the profiler may have one half (128)\n";

static void set_memory(const char *value)
{
    char *end;
    unsigned long mib = strtoul(value, &end, 10);

    if (*value < '1' || *value > '9' || *end != '\0' || mib > SIZE_MAX >> 20)
        fail("not a number of MiB", value);
    memory_bytes = (size_t)mib << 20;
}

static void add_module(const char *path)
{
    struct arch_module *module = &arch_boot.module[arch_boot.module_count];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *memory;

    if (arch_boot.module_count == ARCH_MODULES_MAX)
        fail("too many modules", path);
    if (file < 0 || fstat(file, &status) != 0 || status.st_size == 0)
        fail("cannot be read, or is empty", path);
    memory =
        mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED)
        fail("cannot be read", path);
    close(file);
    module->begin = (uintptr_t)memory;
    module->end = module->begin + (size_t)status.st_size;
    snprintf(module->name, sizeof module->name, "%s", path);
    arch_boot.module_count++;
}

/* As from a loader: the image's name, then the words. */
static void add_word(const char *word)
{
    size_t used = strlen(arch_boot.command_line);
    size_t room = sizeof arch_boot.command_line - used;

    if (snprintf(arch_boot.command_line + used, room, "%s%s",
                 used != 0 ? " " : "", word) >= (int)room)
        arch_boot.command_line_cut = true;
}

static void read_arguments(int count, char **arguments)
{
    static const struct option options[] = {
        {"disk", required_argument, NULL, 'd'},
        {"module", required_argument, NULL, 'm'},
        {"stream", required_argument, NULL, 's'},
        {"memory", required_argument, NULL, 'M'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(count, arguments, "h", options, NULL)) != -1) {
        switch (option) {
        case 'd':
            disk = optarg;
            break;
        case 'm':
            add_module(optarg);
            break;
        case 's':
            stream = optarg;
            break;
        case 'M':
            set_memory(optarg);
            break;
        case 'h':
            printf(usage, arguments[0]);
            exit(0);
        default:
            fprintf(stderr, usage, arguments[0]);
            exit(2);
        }
    }
    add_word(arguments[0]);
    for (int i = optind; i < count; i++)
        add_word(arguments[i]);
}

int main(int count, char **arguments)
{
    uintptr_t left;

    setvbuf(stdout, NULL, _IOLBF, 0);
    read_arguments(count, arguments);
    hosted_signals_start();
    arch_context_switch(
        &left, arch_context_new((uintptr_t)boot_stack_top, kernel_main));
}
