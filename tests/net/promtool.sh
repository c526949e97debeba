#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# promtool.sh FILE: fetches Debian's package prometheus and takes the checker
# promtool out of it. It is not installed: that would start a server, and bring
# along what its pages need.
set -eu

folder=$(dirname "$1")/prometheus
mkdir -p "$folder"
cd "$folder"
rm -f ./*.deb
apt-get -qq download prometheus
dpkg-deb --fsys-tarfile ./*.deb | tar -x ./usr/bin/promtool
mv usr/bin/promtool "$1"
