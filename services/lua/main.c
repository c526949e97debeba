/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lua 5.4 as a unikernel: runs the script that came as the first boot module.
 *
 * A script that leaves a global function work() behind has it called again and
 * again for as long as the image runs, and the calls are counted: that is the
 * throughput printed every second. A script without one runs once.
 *
 * The interpreter never returns to the event loop by itself. Between two calls
 * of work() the loop is let run what is due. Within a call that takes long, a
 * hook does it, every few thousand of Lua's instructions. The hook costs Lua up
 * to a fifth of its speed, so it is set only where it is needed.
 */

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

#define HOOK_INSTRUCTIONS 5000
#define EXIT_SCRIPT_FAILED 1

/* A call longer than this is a reason to set the hook for the next one. */
#define LONG_CALL_NS 100000000ull

/* Shortly before the profiler's table of the same second. */
#define FIRST_RATE_NS 900000000ull
#define RATE_PERIOD_NS 1000000000ull

static struct loop_timer rate_timer;
static uint64_t calls;      /* of work(), finished */
static uint64_t calls_told; /* what calls was at the last line */
static uint64_t told_ns;    /* when that was */

static void hook(lua_State *lua, lua_Debug *where)
{
    (void)lua;
    (void)where;
    loop_poll();
}

static void set_hook(lua_State *lua, bool on)
{
    if (on)
        lua_sethook(lua, hook, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
    else
        lua_sethook(lua, NULL, 0, 0);
}

/* One line; tenths, for scripts whose work() takes long. */
static void tell_rate(void *context)
{
    uint64_t now_ns = clock_ns();
    uint64_t tenths =
        (calls - calls_told) * 10000000000ull / (now_ns - told_ns);

    (void)context;
    fflush(stdout);
    console_line("lua: %lu.%lu iterations/s", (unsigned long)(tenths / 10),
                 (unsigned long)(tenths % 10));
    calls_told = calls;
    told_ns = now_ns;
}

static void tell_first_rate(void *context)
{
    tell_rate(context);
    loop_every(&rate_timer, RATE_PERIOD_NS, tell_rate, NULL);
}

/* Message handler: the error and where it came from. */
static int explain(lua_State *lua)
{
    luaL_traceback(lua, lua, luaL_tolstring(lua, 1, NULL), 1);
    return 1;
}

/* Calls the function on top of the stack; false after its error was printed. */
static bool call(lua_State *lua)
{
    int base = lua_gettop(lua);

    lua_pushcfunction(lua, explain);
    lua_insert(lua, base);
    if (lua_pcall(lua, 0, 0, base) != LUA_OK) {
        printf("lua: %s\n", lua_tostring(lua, -1));
        lua_settop(lua, base - 1);
        return false;
    }
    lua_remove(lua, base);
    return true;
}

static bool load(lua_State *lua)
{
    size_t bytes;
    const char *script = service_module(0, &bytes);

    if (script == NULL) {
        puts("lua: no script: give one as boot module (QEMU: -initrd FILE)");
        return false;
    }
    if (luaL_loadbuffer(lua, script, bytes, "=script") == LUA_OK)
        return true;
    printf("lua: %s\n", lua_tostring(lua, -1));
    return false;
}

static bool work(lua_State *lua)
{
    told_ns = clock_ns();
    loop_once(&rate_timer, FIRST_RATE_NS, tell_first_rate, NULL);
    for (;; calls++) {
        uint64_t begin_ns = clock_ns();

        if (lua_getglobal(lua, "work") != LUA_TFUNCTION)
            return true;
        if (!call(lua))
            return false;
        set_hook(lua, clock_ns() - begin_ns > LONG_CALL_NS);
        loop_poll();
    }
}

int service_main(void)
{
    lua_State *lua = luaL_newstate();

    if (lua == NULL) {
        puts("lua: not enough memory for the interpreter");
        return EXIT_SCRIPT_FAILED;
    }
    luaL_openlibs(lua);
    set_hook(lua, true);

    bool fine = load(lua) && call(lua) && work(lua);

    loop_cancel(&rate_timer);
    lua_close(lua);
    return fine ? 0 : EXIT_SCRIPT_FAILED;
}
