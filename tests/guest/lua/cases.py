# SPDX-License-Identifier: Apache-2.0
"""Guest cases: the Lua service."""

from harness.cases import case

CASES = [
    case(
        "lua_counts_its_work",
        image="lua",
        append="prof.every=1000 prof.reports=2",
        modules=["tests/guest/lua/lua_counts_its_work.lua"],
        exits=0,
        shows=[
            "^third call$",
            "^lua: [1-9][0-9]*[.][0-9] iterations/s$",
            "% +[0-9]+ .* luaV_execute$",
        ],
    ),
    case(
        "lua_endless_script_reports",
        image="lua",
        append="prof.every=500 prof.reports=2",
        modules=["tests/guest/lua/lua_endless_script_reports.lua"],
        exits=0,
        shows=["% +[0-9]+ .* luaV_execute$"],
    ),
    case(
        "lua_error_is_reported",
        image="lua",
        append="prof.every=0",
        modules=["tests/guest/lua/lua_error_is_reported.lua"],
        exits=1,
        shows=[
            "^before$",
            "^lua: script:2: something broke$",
            "^stack traceback:$",
            "script:2: in upvalue 'inner'$",
            "script:5: in main chunk$",
        ],
    ),
    case(
        "lua_runs_a_script",
        image="lua",
        append="prof.every=0",
        boots="kernel grub",
        modules=["tests/guest/lua/lua_runs_a_script.lua"],
    ),
    case(
        "lua_syntax_error_is_reported",
        image="lua",
        append="prof.every=0",
        modules=["tests/guest/lua/lua_syntax_error_is_reported.lua"],
        exits=1,
        shows=["^lua: script:3: <name> expected near .=.$"],
        hides=["not to be seen"],
    ),
    case(
        "lua_without_script",
        image="lua",
        append="prof.start=off",
        exits=1,
        shows=["^lua: no script: give one as boot module"],
    ),
]
