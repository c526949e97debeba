/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Lua's garbage collector as pauses of the trace: the linker puts these
 * functions around two of Lua's (ldflags).
 */

#include <prof/trace.h>

struct lua_State;
void __real_luaC_step(struct lua_State *state);
void __real_luaC_fullgc(struct lua_State *state, int emergency);
void __wrap_luaC_step(struct lua_State *state);
void __wrap_luaC_fullgc(struct lua_State *state, int emergency);

static PROF_TRACE_NAME(collector, "lua gc");

void __wrap_luaC_step(struct lua_State *state)
{
    uint64_t begin = __builtin_ia32_rdtsc();

    __real_luaC_step(state);
    prof_trace_pause(&collector, __builtin_ia32_rdtsc() - begin);
}

void __wrap_luaC_fullgc(struct lua_State *state, int emergency)
{
    uint64_t begin = __builtin_ia32_rdtsc();

    __real_luaC_fullgc(state, emergency);
    prof_trace_pause(&collector, __builtin_ia32_rdtsc() - begin);
}
