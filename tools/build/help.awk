# SPDX-License-Identifier: Apache-2.0
#
# Prints the Makefile's own words, in groups. "#: text", on one line or several,
# describes the variable or the target in the line after it; "#= GROUP" says
# where it and all that follow in that file belong. A default that has to be
# worked out is not shown: the text says what it is.

BEGIN {
    count = split("run profile embed test measure checkout", order)
    title["run"] = "Run a program as a unikernel"
    title["profile"] = "Profile it"
    title["embed"] = "Put the profiler into another kernel"
    title["test"] = "Test"
    title["measure"] = "Measure"
    title["checkout"] = "This checkout"
}
FNR == 1 {
    group = ""
}
/^#= / {
    group = $2
    next
}
/^#: / {
    text = text (text == "" ? "" : " ") substr($0, 4)
    next
}
text != "" && (/^[A-Z_]+ \?=/ || /^[a-z-]+:/) {
    if (!(group in title))
        bad = bad FILENAME ": '" $1 "' has no group\n"
    if (/^[A-Z_]+ \?=/) {
        value = $0
        sub(/^[A-Z_]+ \?= */, "", value)
        if (value ~ /\$\(/)
            value = ""
        variables[group] = variables[group] sprintf("    %-14s %s%s\n", $1, \
            text, value == "" ? "" : " [" value "]")
    } else {
        name = $0
        sub(/:.*/, "", name)
        targets[group] = targets[group] sprintf("  make %-13s %s\n", name, text)
    }
}
{
    text = ""
}
END {
    if (bad != "") {
        printf "%s", bad
        exit 1
    }
    for (i = 1; i <= count; i++) {
        group = order[i]
        printf "%s%s\n%s", (i > 1 ? "\n" : ""), title[group], targets[group]
        if (variables[group] != "")
            printf "  with VARIABLE=value [default]:\n%s", variables[group]
    }
}
