#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# packages.sh LIST: installs the Debian packages of LIST that are missing.
#
# Asks dpkg only, and is silent, when all of them are there. Otherwise apt
# runs as root or through sudo, and asks nothing; where neither is possible
# one message says what to install.
set -eu

list=$1
command -v dpkg-query >/dev/null || {
    echo "packages.sh: not a Debian system; needed are the tools in $list" >&2
    exit 0
}

# lines "PACKAGE" or "PACKAGE unless COMMAND"
wanted=
while read -r package unless command _; do
    case $package in
    '' | '#'*) ;;
    *)
        [ "$unless" = unless ] && command -v "$command" >/dev/null ||
            wanted="$wanted $package"
        ;;
    esac
done <"$list"
# shellcheck disable=SC2086 # a list of words
present=$(dpkg-query -W -f ' ${Package}:${db:Status-Status} ' $wanted \
    2>/dev/null || true)
missing=
for package in $wanted; do
    case $present in
    *" $package:installed "*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root='sudo -n'
elif command -v sudo >/dev/null && [ -t 0 ]; then
    as_root=sudo
else
    echo "Missing packages, and neither root nor sudo to install them. Run:" >&2
    echo "    apt-get install --no-install-recommends$missing" >&2
    exit 1
fi

echo "installing:$missing"
# shellcheck disable=SC2086 # lists of words
{
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install \
            --yes --no-install-recommends $missing </dev/null
} || {
    echo "apt-get could not install:$missing" >&2
    exit 1
}
