/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error codes as text. Each is a phrase that reads well after "profiler: ".
 */

#include <prof/config.h>
#include <prof/error.h>
#include <stddef.h>

static const char *const lines[] = {
    [-PROF_OK] = "no error",
    [-PROF_EMEMORY] = "the memory given to the profiler is too small",
    [-PROF_ECONFIG] = "invalid configuration",
    [-PROF_ESTATE] = "called too early, or again",
    [-PROF_ERATE] = "the sampling rate is 0",
    [-PROF_EOPTION] = "unknown option",
    [-PROF_EVALUE] = "invalid value for this option",
    [-PROF_EGATE] = "the timer's IDT gate is not present",
    [-PROF_EFIXED] =
        "the rate is fixed: the kernel calls the sampler from its own "
        "timer interrupt",
    [-PROF_EPORT] = "current_eoi_mechanism is not set",
    [-PROF_EABSENT] = "not part of this image (<prof/config.h>)",
    [-PROF_EFLIGHT] = "nothing to dump: the recorder is not in flight mode "
                      "(prof.trace=flight)",
    [-PROF_ELOOP] = "no statistics of the event loop (prof.loop)",
    [-PROF_ECAUSAL] = "a target or a progress point is missing",
    [-PROF_ECAUSAL_RUNS] =
        "experiments are running, or what they held was not taken",
    [-PROF_ECAUSAL_MEMORY] = "no memory for experiments",
    [-PROF_ESYM_NONE] = "the image contains no symbol table",
    [-PROF_ESYM_SHORT] = "the symbol table is truncated",
    [-PROF_ESYM_MAGIC] = "not a symbol table, or one of another version",
    [-PROF_ESYM_CRC] = "the symbol table is damaged (wrong checksum)",
    [-PROF_ESYM_LAYOUT] = "the symbol table is damaged (an array lies outside)",
    [-PROF_ESYM_ORDER] = "the symbol table is not sorted, or overlaps",
    [-PROF_ESYM_NAME] = "the symbol table is damaged (a name cannot be read)",
    [-PROF_ESYM_BUILD] =
        "the symbol table belongs to another build of the image",
    [-PROF_ESYM_WIDTH] =
        "the symbol table belongs to an image of another width",
    [-PROF_ESYM_INDEX] =
        "the symbol table is damaged (its index misses functions)",
    [-PROF_EONE_SHOT] =
        "the kernel uses the PIT in one-shot mode: no rate to multiply "
        "(<prof/tick.h>)",
#if PROF_WITH_LAPIC
    [-PROF_ELAPIC] = "the local APIC's timer is off, masked or periodic, or "
                     "has another vector than config.tick.lapic_vector",
    [-PROF_ETIMER] = "there is no timer to sample by",
#endif
#if PROF_CPUS_MAX > 1
    [-PROF_ECAUSAL_CPUS] = "several CPUs run, and a virtual clock is about one "
                           "of them: leave one (docs/causal.md#several-cpus)",
    [-PROF_ECPU] = "another CPU has the same task register or TSC_AUX, or this "
                   "one has none",
#endif
    [-PROF_EPATCH_NAME] =
        "no function of this name (it may have been inlined everywhere)",
    [-PROF_EPATCH_NAMES] = "several functions have this name",
    [-PROF_EPATCH_SHORT] = "the function is too short to be patched",
    [-PROF_EPATCH_CODE] =
        "the function's instructions cannot be moved, or are unknown",
    [-PROF_EPATCH_BRANCH] = "the function jumps to its first instructions",
    [-PROF_EPATCH_OWN] = "the function is the profiler's own",
    [-PROF_EPATCH_ROOM] = "too many functions",
#if PROF_WITH_CAUSAL
    [-PROF_EPATCH_LINE] =
        "where a line is, the host knows: name it to make causal, parasite "
        "record or tell, or as parasite causal --target prints it",
    [-PROF_EPATCH_RANGES] =
        "ranges of code are BEGIN+BYTES in hexadecimal, in the image's code, "
        "at most 64",
    [-PROF_EPATCH_KIND] = "a line or an inlined function can only be a target, "
                          "and learnt from samples",
#endif
};

const char *prof_strerror(int error)
{
    unsigned at = 0u - (unsigned)error;

    if (at >= sizeof lines / sizeof *lines || lines[at] == NULL)
        return "unknown error";
    return lines[at];
}
