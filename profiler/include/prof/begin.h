/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_BEGIN_H
#define PROF_BEGIN_H

/*
 * The shortest integration: prof_begin() does the whole set-up, and prof_poll()
 * (<prof/poll.h>) everything after it that options request.
 *
 *     static const struct prof_config config = {
 *         .tick = {.kind = PROF_TICK_OWN_PIT, .vector = 34},
 *         .text = {(uintptr_t)code_begin, (uintptr_t)code_end},
 *     };
 *
 *     prof_begin(&config);     or, with options on the kernel's command line,
 *     prof_begin_with(&config, command_line, NULL, 0);
 *     for (;;) {
 *         prof_poll();
 *         ...
 *     }
 *
 * It is inline in a header, so that an image that does not call it does not
 * contain its memory.
 */

#include <prof/causal.h>
#include <prof/error.h>
#include <prof/port.h>
#include <prof/prof.h>
#include <prof/symbols.h>
#include <prof/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Bytes of prof_begin()'s pool if the configuration has none: enough for all
 * features in the image at their default sizes. To change it, define it before
 * you include this header; define it as 0 if the image has a prof_port_alloc()
 * of its own.
 */
#ifndef PROF_BEGIN_POOL
#if PROF_WITH_BUILTIN
#define PROF_BEGIN_POOL                                                        \
    (PROF_POOL_DEFAULT +                                                       \
     1024u * ((PROF_WITH_TRACE ? PROF_TRACE_KIB_POOL : 0u) +                   \
              (PROF_WITH_TRACE ? PROF_TRACE_STACKS_KIB : 0u) +                 \
              (PROF_WITH_LOOP ? PROF_LOOP_KIB_DEFAULT : 0u) +                  \
              (PROF_WITH_CAUSAL ? PROF_CAUSAL_KIB : 0u) +                      \
              (PROF_WITH_STREAM ? PROF_SHARE_KIB_DEFAULT : 0u)))
#else
#define PROF_BEGIN_POOL 0u
#endif
#endif

/* Bytes of the longest option, "prof.target=" and a C++ name, with its NUL. */
#define PROF_BEGIN_WORD_MAX 512u

/* Writes (text) to the console. */
static inline void prof_begin_say(const char *text)
{
    /* a loop that no compiler turns into a call of strlen() */
    for (; *text != '\0'; text++)
        prof_port_write(text, 1);
}

/* Prints (what) and the text of (error), unless (error) is 0. Returns
 * (error). */
static inline int prof_begin_failed(const char *what, int error)
{
    if (error == 0)
        return 0;
    prof_begin_say("prof: ");
    prof_begin_say(what);
    prof_begin_say(": ");
    prof_begin_say(prof_strerror(error));
    prof_begin_say("\n");
    return error;
}

/* Sets the options in (line), a command line: its words that begin with
 * "prof.", separated by blanks. NULL: none. An invalid option is ignored, with
 * a line that gives the reason. Contexts: boot, thread. */
static inline void prof_option_line(const char *line)
{
    static const char prefix[] = "prof.";
    char word[PROF_BEGIN_WORD_MAX];

    while (line != NULL && *line != '\0') {
        size_t bytes = 0, same = 0;

        for (; *line != '\0' && (unsigned char)*line > ' '; line++)
            if (bytes++ < sizeof word - 1)
                word[bytes - 1] = *line;
        word[bytes < sizeof word ? bytes : sizeof word - 1] = '\0';
        while (*line != '\0' && (unsigned char)*line <= ' ')
            line++;
        while (prefix[same] != '\0' && word[same] == prefix[same])
            same++;
        if (prefix[same] == '\0')
            (void)prof_begin_failed(
                word, bytes < sizeof word ? prof_option(word) : PROF_EVALUE);
    }
}

#if PROF_WITH_CAUSAL
/* Writes (count) bytes of code at (address), with interrupts off and CR0.WP
 * cleared, as code may be write-protected even for the kernel. */
static inline void prof_begin_write(uintptr_t address, const void *bytes,
                                    size_t count)
{
    const uintptr_t write_protect = (uintptr_t)1 << 16;
    volatile unsigned char *to = (volatile unsigned char *)address;
    const unsigned char *from = (const unsigned char *)bytes;
    uintptr_t flags, cr0;

    __asm__ volatile("pushf; pop %0; cli" : "=r"(flags) : : "memory");
    __asm__ volatile("mov %%cr0, %0" : "=r"(cr0));
    __asm__ volatile("mov %0, %%cr0" : : "r"(cr0 & ~write_protect) : "memory");
    while (count-- > 0)
        *to++ = *from++;
    __asm__ volatile("mov %0, %%cr0" : : "r"(cr0) : "memory");
    __asm__ volatile("push %0; popf" : : "r"(flags) : "memory", "cc");
}
#endif

/* Allows functions of the image to be targets of causal experiments, by name
 * (prof.target=). */
static inline void prof_begin_causal(const struct prof_config *config)
{
#if PROF_WITH_CAUSAL
    const struct prof_image_code code = {config->text.begin, config->text.end,
                                         prof_begin_write, NULL};

    prof_causal_code(&code);
#else
    (void)config;
#endif
}

/*
 * Sets up the profiler and starts sampling:
 *
 *   - provides static memory: PROF_MEMORY_DEFAULT bytes for each CPU, and a
 *     pool of PROF_BEGIN_POOL bytes if (config) has none
 *   - opens the image's symbol table (`parasite embed`), unless a table is in
 *     use already (prof_symbols_elf())
 *   - sets the options in the command line (line)
 *   - calls prof_init(), and allows functions as targets of experiments
 *   - opens the transport that prof.out names, one of the (count) in (list) or
 *     a built-in one (<prof/transport.h>)
 *   - starts the task recorder if prof.trace is set (<prof/trace.h>), and the
 *     statistics of the event loop if prof.loop is set (<prof/loop.h>)
 *   - calls prof_start(), unless prof.start=off
 *
 * A part that fails is left out, with a line that gives the reason.
 *
 * (line) and (list) MAY be NULL. (line) is not kept; (list) MUST remain valid.
 * Contexts: as prof_init(); called from one place in the image, once. Returns
 * 0, or the error of prof_init() or prof_start(): nothing is sampled then.
 */
static inline int prof_begin_with(const struct prof_config *config,
                                  const char *line,
                                  const struct prof_transport *list,
                                  size_t count)
{
    static unsigned char memory[PROF_MEMORY_DEFAULT * PROF_CPUS_MAX]
        __attribute__((aligned(16)));
    static unsigned char pool[PROF_BEGIN_POOL != 0 ? PROF_BEGIN_POOL : 1]
        __attribute__((aligned(16)));
    struct prof_config whole = *config;
    int error;

    if (PROF_BEGIN_POOL != 0 && whole.pool_bytes == 0) {
        whole.pool = pool;
        whole.pool_bytes = sizeof pool;
    }
    prof_pool_open(whole.pool, whole.pool_bytes); /* options allocate */
    if (prof_symbols_count() == 0)
        (void)prof_symbols_embedded();
    if (whole.build_id_bytes == 0)
        whole.build_id = prof_symbols_build_id(&whole.build_id_bytes);
    prof_option_line(line);
    error = prof_init(memory, sizeof memory, &whole);
    if (error == 0) {
        prof_begin_causal(&whole);
        (void)prof_transport_choose(list, count);
        (void)prof_begin_failed("no recorder of tasks (prof.trace_kb)",
                                prof_trace_start());
        (void)prof_begin_failed("no statistics of the loop (prof.loop_kb)",
                                prof_loop_start());
        if (prof_options()->start)
            error = prof_start();
    }
    return prof_begin_failed("not sampling", error);
}

/* Like prof_begin_with(), without a command line, and with the built-in
 * transports only: "serial", on prof_port_write(), and "shm". */
static inline int prof_begin(const struct prof_config *config)
{
    return prof_begin_with(config, NULL, NULL, 0);
}

#ifdef __cplusplus
}
#endif

#endif
