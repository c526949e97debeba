/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lua 5.4 as a unikernel: runs the script in the first boot module.
 *
 * If the script defines a global function work(), it is called repeatedly as
 * long as the image runs, and the calls per second are printed every second.
 * Other scripts run once.
 *
 * The interpreter does not return to the event loop by itself. The loop is
 * polled between two calls of work() and, during long calls, by a hook every
 * few thousand Lua instructions. The hook slows Lua down by up to a fifth, so
 * it is set only when needed.
 */

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <prof/symbols.h>
#include <stdio.h>
#include <string.h>

#define HOOK_INSTRUCTIONS 5000
#define EXIT_SCRIPT_FAILED 1

/* After a call longer than this the hook is set for the next one. */
#define LONG_CALL_NS 100000000ull

/* Shortly before the profiler's report of the same second. */
#define FIRST_RATE_NS 900000000ull
#define RATE_PERIOD_NS 1000000000ull

/* The interpreter has more functions than the kernel reserves space for. */
PROF_SYMBOLS_RESERVE(65536);

static struct loop_timer rate_timer;
static uint64_t calls;         /* of work(), finished */
static uint64_t calls_printed; /* value of calls at the last line */
static uint64_t printed_ns;    /* time of the last line */

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

/* Prints tenths, for scripts whose work() takes long. */
static void print_rate(void *context)
{
    uint64_t now_ns = clock_ns();
    uint64_t tenths =
        (calls - calls_printed) * 10000000000ull / (now_ns - printed_ns);

    (void)context;
    fflush(stdout);
    console_line("lua: %lu.%lu iterations/s", (unsigned long)(tenths / 10),
                 (unsigned long)(tenths % 10));
    calls_printed = calls;
    printed_ns = now_ns;
}

static void print_first_rate(void *context)
{
    print_rate(context);
    loop_every(&rate_timer, RATE_PERIOD_NS, print_rate, NULL);
}

/* Message handler: adds a traceback to the error. */
static int explain(lua_State *lua)
{
    luaL_traceback(lua, lua, luaL_tolstring(lua, 1, NULL), 1);
    return 1;
}

/* Calls the function on top of the stack; false if it failed, after printing
 * the error. */
static bool call_function(lua_State *lua)
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
    printed_ns = clock_ns();
    loop_once(&rate_timer, FIRST_RATE_NS, print_first_rate, NULL);
    for (;; calls++) {
        uint64_t begin_ns = clock_ns();

        if (lua_getglobal(lua, "work") != LUA_TFUNCTION)
            return true;
        if (!call_function(lua))
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

    bool fine = load(lua) && call_function(lua) && work(lua);

    loop_cancel(&rate_timer);
    lua_close(lua);
    return fine ? 0 : EXIT_SCRIPT_FAILED;
}
