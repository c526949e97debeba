#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# join.sh PAGE.html STYLE.css SCRIPT.js...: one page of them on stdout. The
# lines @STYLE@ and @SCRIPT@ of PAGE.html become the files; the scripts share
# one scope. What is for readers of the sources only, indentation and comment
# lines, stays behind.
set -eu

page=$1
style=$2
shift 2
script=$(mktemp)
trap 'rm -f "$script"' EXIT
{
    echo "'use strict';"
    echo '{'
    cat "$@"
    echo '}'
} | sed -e 's/^  *//' -e '/^\/\//d' -e '/^$/d' >"$script"

while IFS= read -r line; do
    case $line in
    @STYLE@) sed -e 's/^  *//' -e '/^\/\*.*\*\/$/d' "$style" ;;
    @SCRIPT@) cat "$script" ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$page"
