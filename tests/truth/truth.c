/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin: its arguments, and what it writes.
 *
 * Each instruction adds one to its function's count in the code that QEMU
 * generates, which no callback could do as fast; those of a row that surely are
 * executed one after the other are added at once. The rest are callbacks
 * (events.c).
 */

#include "events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int qemu_plugin_version = 1;

static const char *map_path, *out_path;
static bool traps_good = true;

struct function *truth_function_at(uint64_t address)
{
    size_t low = 0, high = truth.count - 1;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (truth.functions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= truth.functions[low - 1].end)
        return &truth.functions[truth.count - 1];
    return &truth.functions[truth.functions[low - 1].group];
}

/* The instruction after its prefixes. What begins with 0x4x and has more bytes
 * has a REX prefix; 32 bits wide, such an instruction is one byte. */
static const uint8_t *opcode_of(const struct qemu_plugin_insn *insn,
                                size_t *left)
{
    static const char prefixes[] = "\x66\xf2\xf3\x2e\x3e";
    const uint8_t *bytes = qemu_plugin_insn_data(insn);

    *left = qemu_plugin_insn_size(insn);
    while (*left > 1 && (bytes[0] >> 4 == 4 ||
                         memchr(prefixes, bytes[0], sizeof prefixes - 1))) {
        ++bytes;
        --*left;
    }
    return bytes;
}

/* Opcodes of one byte (Intel SDM vol. 2, appendix A). */
static qemu_executed *const plain[256] = {
    [0xcf] = on_iret,                       /* iret */
    [0xc3] = on_return, [0xc2] = on_return, /* ret */
    [0xfb] = on_sti,    [0x9d] = on_popf,   [0xf4] = on_halt, [0xfa] = on_cli,
};

/* Opcodes of two bytes, after 0x0f: cmov, set, imul, movzx, movsx. */
static bool is_simple_of_two(uint8_t code)
{
    return code >> 4 == 4 || code >> 4 == 9 || code == 0xaf ||
           (code & 0xf6) == 0xb6;
}

/* Whether the instruction after this one surely is executed next: it computes
 * in registers, and has no way to fail or to go elsewhere. */
static bool goes_on(const struct qemu_plugin_insn *insn)
{
    size_t left;
    const uint8_t *code = opcode_of(insn, &left);
    unsigned extension = left > 1 ? code[1] >> 3 & 7 : 0;

    if (code[0] == 0x90 || (code[0] >> 4 == 4 && left == 1) ||
        code[0] >> 3 == 0xb8 >> 3 || (code[0] < 0x40 && (code[0] & 6) == 4) ||
        (code[0] & 0xfe) == 0xa8)
        return true; /* nop, inc, dec, mov, ... of constants; not pause */
    if (code[0] == 0x8d && left > 1)
        return true; /* lea */
    if (code[0] == 0x0f)
        return left > 2 && code[2] >> 6 == 3 && is_simple_of_two(code[1]);
    if (left < 2 || code[1] >> 6 != 3)
        return false; /* not of registers alone */
    return (code[0] < 0x40 && (code[0] & 4) == 0) || code[0] == 0x81 ||
           code[0] == 0x83 || (code[0] & 0xfe) == 0x84 ||
           (code[0] & 0xfc) == 0x88 || (code[0] & 0xfe) == 0xc0 ||
           (code[0] & 0xfc) == 0xd0 ||
           ((code[0] & 0xfe) == 0xf6 && extension < 6) ||
           ((code[0] & 0xfe) == 0xfe && extension < 2);
}

/* QEMU shows an instruction that reaches into another page as the last one of a
 * block, and then leaves it to the next block. */
#define PAGE 4096u
#define INSN_MAX 15u
static bool stays(const struct block *block, uint64_t address)
{
    return (address + INSN_MAX) / PAGE == block->address / PAGE;
}

/* Instructions of one function that are counted at the first of them. */
struct row {
    struct qemu_plugin_insn *first;
    struct function *function;
    uint64_t insns;
    bool goes_on;
};

static void count(const struct row *row)
{
    if (row->insns == 0)
        return;
    qemu_plugin_register_vcpu_insn_exec_inline(
        row->first, QEMU_PLUGIN_INLINE_ADD_U64, &row->function->executed,
        row->insns);
    qemu_plugin_register_vcpu_insn_exec_inline(
        row->first, QEMU_PLUGIN_INLINE_ADD_U64, &truth.all, row->insns);
}

/* Returns whose it is. A callback finds all before it counted, and nothing
 * else. */
static struct function *watch(const struct block *block,
                              struct qemu_plugin_insn *insn, struct row *row)
{
    uint64_t address = qemu_plugin_insn_vaddr(insn);
    struct function *function = truth_function_at(address);
    size_t left;
    const uint8_t *code = opcode_of(insn, &left);
    unsigned extension = left > 1 ? code[1] >> 3 & 7 : 0;
    qemu_executed *callback = NULL;
    void *owner = NULL;

    if (address == truth.enter) {
        callback = on_tick;
    } else if (address == truth.stop) {
        callback = on_stop;
    } else if (address == truth.mark) {
        callback = on_mark;
    } else if (plain[code[0]] != NULL) {
        callback = plain[code[0]];
        owner = function;
    } else if (code[0] == 0xe8 ||
               (code[0] == 0xff && (extension == 2 || extension == 3))) {
        struct call *call = malloc(sizeof *call); /* lives as long as QEMU */

        *call = (struct call){function, address + qemu_plugin_insn_size(insn)};
        callback = on_call;
        owner = call;
    }
    if (callback != NULL)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, callback,
                                               QEMU_PLUGIN_CB_NO_REGS, owner);
    if (callback != NULL || !row->goes_on || function != row->function ||
        !stays(block, address)) {
        count(row);
        *row = (struct row){.first = insn, .function = function};
    }
    row->insns++;
    row->goes_on = goes_on(insn);
    return function;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t insns = qemu_plugin_tb_n_insns(tb);
    struct block *block = /* lives as long as QEMU */
        malloc(sizeof *block + insns * sizeof *block->of);
    struct row row = {0};

    (void)id;
    block->address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
    block->insns = insns;
    if (block->address == truth.thief)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_thief,
                                             QEMU_PLUGIN_CB_NO_REGS, NULL);
    else if (traps_begin_at(block->address))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_trap,
                                             QEMU_PLUGIN_CB_NO_REGS, NULL);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                         block);
    for (size_t i = 0; i < insns; ++i)
        block->of[i] = watch(block, qemu_plugin_tb_get_insn(tb, i), &row);
    count(&row);
}

static void write_function(FILE *out, const struct function *function)
{
    fprintf(
        out,
        "{\"start\": %" PRIu64 ", \"self\": %" PRIu64 ", \"total\": %" PRIu64
        ", \"handler\": %" PRIu64 ", \"masked\": %" PRIu64
        ", \"opened\": %" PRIu64 ", \"whole\": %" PRIu64,
        function->start, function->self[1] - function->self[0],
        function->total[1] - function->total[0], function->handler,
        function->masked_at[1] - function->masked_at[0],
        function->opened_at[1] - function->opened_at[0], truth_own(function));
    ideal_sums_print(out, function->ideal);
    putc('}', out);
}

static void write_marks(FILE *out)
{
    fputs(", \"marks\": [", out);
    for (size_t i = 0; i < truth.marks_count; ++i)
        fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", i > 0 ? "," : "",
                truth.marks[i].ticks, truth.marks[i].masked);
    putc(']', out);
}

static void write_out(qemu_plugin_id_t id, void *owner)
{
    FILE *out = fopen(out_path, "w");

    (void)id, (void)owner;
    fclose(truth.tick_lines);
    if (out == NULL) {
        perror(out_path);
        return;
    }
    fprintf(out,
            "{\"ticks\": %" PRIu64 ", \"judged\": %" PRIu64
            ", \"executed\": %" PRIu64 ", \"between\": %" PRIu64
            ", \"in_handlers\": %" PRIu64 ", \"unmatched\": %" PRIu64
            ", \"left\": %" PRIu64 ", \"jumped\": %" PRIu64
            ", \"thief\": [%" PRIu64 ", %" PRIu64 "]",
            truth.ticks, truth.judged, truth.all,
            truth.all_at[1] - truth.all_at[0], truth.in_handlers,
            calls_unmatched() - truth.unmatched_then,
            calls_left() - truth.left_then, calls_jumped(), truth.thefts,
            truth.stolen);
    write_marks(out);
    ideals_print(out);
    fputs(",\n\"functions\": [", out);
    for (size_t i = 0; i < truth.count; ++i) {
        fputs(i > 0 ? ",\n  " : "\n  ", out);
        write_function(out, &truth.functions[i]);
    }
    fputs("\n]}\n", out);
    fclose(out);
}

/* Where the function that begins at (start) is, among those read so far. */
static size_t number_of(uint64_t start)
{
    size_t low = 0, high = truth.count - 1;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (truth.functions[middle].start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool read_map(const char *path)
{
    FILE *in = fopen(path, "r");
    struct function function = {0};
    uint64_t first;
    bool more;

    if (in == NULL)
        return false;
    do {
        more = fscanf(in, "%" SCNx64 " %" SCNx64 " %" SCNx64, &function.start,
                      &function.end, &first) == 3;
        if (!more)
            function.start = function.end = first = 0;
        truth.functions = realloc(truth.functions,
                                  (truth.count + 1) * sizeof *truth.functions);
        truth.functions[truth.count++] = function;
        truth.functions[truth.count - 1].group =
            more ? number_of(first) : truth.count - 1;
    } while (more);
    fclose(in);
    return truth.count > 1;
}

static void read_argument(const char *word)
{
    static const struct {
        const char *name;
        uint64_t *value;
        int base;
    } numbers[] = {{"enter=", &truth.enter, 16},
                   {"stop=", &truth.stop, 16},
                   {"mark=", &truth.mark, 16},
                   {"thief=", &truth.thief, 16},
                   {"period=", &truth.period, 10}};
    const char *value = strchr(word, '=');

    if (strncmp(word, "map=", 4) == 0)
        map_path = word + 4;
    else if (strncmp(word, "out=", 4) == 0)
        out_path = word + 4;
    else if (strncmp(word, "ticks=", 6) == 0)
        truth.tick_lines = fopen(word + 6, "w");
    else if (strncmp(word, "traps=", 6) == 0)
        traps_good = traps_read(word + 6);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        if (strncmp(word, numbers[i].name, strlen(numbers[i].name)) == 0)
            *numbers[i].value = strtoull(value + 1, NULL, numbers[i].base);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
                        char **argv)
{
    (void)info;
    for (int i = 0; i < argc; ++i)
        read_argument(argv[i]);
    if (!traps_good || map_path == NULL || truth.enter == 0 ||
        out_path == NULL || truth.tick_lines == NULL || !read_map(map_path)) {
        fputs("truth: needs map=, enter=, out= and ticks=\n", stderr);
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, write_out, NULL);
    return 0;
}
