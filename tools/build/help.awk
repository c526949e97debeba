# SPDX-License-Identifier: Apache-2.0
#
# Prints the Makefile's own words: each line "#: text" describes the variable
# or the target in the line after it.

/^#: / {
    text = substr($0, 4)
    next
}
text != "" && /^[A-Z_]+ \?=/ {
    value = $0
    sub(/^[A-Z_]+ \?= */, "", value)
    if (value ~ /^\$\(if /) # a default that depends: said in words
        value = ""
    variables = variables sprintf("  %-10s %s%s\n", $1, text,
                                  value == "" ? "" : " [" value "]")
}
text != "" && /^[a-z-]+:/ {
    sub(/:.*/, "")
    targets = targets sprintf("  make %-10s %s\n", $0, text)
}
{
    text = ""
}
END {
    printf "%s\nVariables, as in make run ARCH=i386 [default]:\n%s", targets,
           variables
}
