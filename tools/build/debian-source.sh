#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# debian-source.sh PACKAGE FOLDER: unpacks a Debian source package to FOLDER
# and leaves a file .unpacked in it.
#
# The machine's own apt configuration stays as it is: a private sources list
# with the mirrors and releases that apt uses here, but for sources, and
# private state and caches beside FOLDER. apt verifies the signatures of the
# releases and through them the checksums of what it fetches.
set -eu

package=$1
folder=$2
fallback=http://deb.debian.org/debian
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)

mkdir -p "$(dirname "$folder")"
base=$(cd "$(dirname "$folder")" && pwd)
private=$base/.apt
mkdir -p "$private/state/lists/partial" "$private/cache/archives/partial"

apt()
{
    apt-get -qq -o Dir::State="$private/state" \
        -o Dir::State::status=/var/lib/dpkg/status \
        -o Dir::Cache="$private/cache" -o APT::Sandbox::User=root "$@"
}

# Debian's own releases among the machine's sources, as "URI RELEASE"
releases()
{
    # shellcheck disable=SC2016 # these are apt's variables
    apt indextargets --no-release-info \
        --format '$(CREATED_BY) $(COMPONENT) $(REPO_URI) $(RELEASE)' |
        sed -n "s/^Packages main \(.* ${codename:-bookworm}\)/\1/p" | sort -u
}

write_list()
{
    signed=
    [ ! -r "$keyring" ] || signed="[signed-by=$keyring] "
    releases | sed "s|.*|deb-src $signed& main|" >"$private/sources.list"
    [ -s "$private/sources.list" ] ||
        echo "deb-src $signed$fallback bookworm main" >"$private/sources.list"
}

fetch()
{
    write_list
    set -- -o Dir::Etc::SourceList="$private/sources.list" \
        -o Dir::Etc::SourceParts=/dev/null
    apt "$@" update || true
    rm -rf "${private:?}/$package" "$folder"
    mkdir "$private/$package"
    cd "$private/$package"
    apt "$@" source --download-only "$package" || {
        # a release may list what its mirror does not have: the main one may
        echo "deb-src $signed$fallback ${codename:-bookworm} main" \
            >"$private/sources.list"
        apt "$@" update || true
        apt "$@" source --download-only "$package"
    }
    dpkg-source --no-check -x ./*.dsc "$base/$(basename "$folder")"
}

# one at a time; the next one finds it done
exec 9>"$private/lock"
flock 9
[ ! -e "$folder/.unpacked" ] || exit 0
echo "$package: fetching Debian's source package"
trap '[ $? -eq 0 ] || {
    tail -n 5 "$private/log" >&2
    echo "debian-source.sh: no $package (log: $private/log);" \
        "is there a network?" >&2
}' EXIT
(fetch >"$private/log" 2>&1)
touch "$folder/.unpacked"
