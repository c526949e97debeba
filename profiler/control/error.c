/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error codes as text. Each is a phrase that reads well after "profiler: ".
 */

#include <prof/error.h>

/* Why a function cannot be patched. */
static const char *patch_line(enum prof_error error)
{
    static const char *const lines[] = {
        "no function of this name (it may have been inlined everywhere)",
        "several functions have this name",
        "the function is too short to be patched",
        "the function's instructions cannot be moved, or are unknown",
        "the function jumps to its first instructions",
        "the function is the profiler's own",
        "too many functions",
    };

    return lines[PROF_EPATCH_NAME - error];
}

static const char *causal_line(enum prof_error error)
{
    static const char *const lines[] = {
        "they need prof.target= or prof.causal=auto, and prof.progress=",
        "experiments are running, or what they held was not taken",
        "no memory for experiments",
    };

    return lines[PROF_ECAUSAL - error];
}

/* No default: the compiler then warns of an enumerator without a text. */
static const char *line_of(enum prof_error error)
{
    switch (error) {
    case PROF_OK:
        return "no error";
    case PROF_EMEMORY:
        return "the memory given to the profiler is too small";
    case PROF_ECONFIG:
        return "invalid configuration";
    case PROF_ESTATE:
        return "called before prof_init()";
    case PROF_ERATE:
        return "the sampling rate is 0";
    case PROF_EOPTION:
        return "unknown option";
    case PROF_EVALUE:
        return "invalid value for this option";
    case PROF_EGATE:
        return "the timer's IDT gate is not present";
    case PROF_EFIXED:
        return "the rate is fixed: the kernel calls the sampler from its own "
               "timer interrupt";
    case PROF_EPORT:
        return "current_eoi_mechanism is not set";
    case PROF_EABSENT:
        return "not part of this image (<prof/config.h>)";
    case PROF_EFLIGHT:
        return "nothing to dump: the recorder is not in flight mode "
               "(prof.trace=flight)";
    case PROF_ELOOP:
        return "no statistics of the event loop (prof.loop)";
    case PROF_ECAUSAL_MEMORY ... PROF_ECAUSAL:
        return causal_line(error);
    case PROF_ESYM_NONE:
        return "the image contains no symbol table";
    case PROF_ESYM_SHORT:
        return "the symbol table is truncated";
    case PROF_ESYM_MAGIC:
        return "not a symbol table, or one of another version";
    case PROF_ESYM_CRC:
        return "the symbol table is damaged (wrong checksum)";
    case PROF_ESYM_LAYOUT:
        return "the symbol table is damaged (an array lies outside)";
    case PROF_ESYM_ORDER:
        return "the symbol table is not sorted, or overlaps";
    case PROF_ESYM_NAME:
        return "the symbol table is damaged (a name cannot be read)";
    case PROF_ESYM_BUILD:
        return "the symbol table belongs to another build of the image";
    case PROF_ESYM_WIDTH:
        return "the symbol table belongs to an image of another width";
    case PROF_ESYM_INDEX:
        return "the symbol table is damaged (its index misses functions)";
    case PROF_EPATCH_ROOM ... PROF_EPATCH_NAME:
        return patch_line(error);
    }
    return "unknown error";
}

const char *prof_strerror(int error)
{
    return line_of((enum prof_error)error);
}
