#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# iso.sh ARCH ISO IMAGE [COMMAND_LINE [MODULE,MODULE...]]: makes an ISO from
# which GRUB boots IMAGE: Multiboot 1 on i386, Multiboot 2 on x86_64.
set -eu

arch=$1
iso=$2
image=$3
words=${4:-}
modules=${5:-}

case $arch in
i386) version= ;;
*) version=2 ;;
esac

root=$iso.root
rm -rf "$root"
mkdir -p "$root/boot/grub"
cp "$image" "$root/boot/image.elf"
{
    echo "multiboot$version /boot/image.elf $words"
    printf '%s' "$modules" | tr , '\n' | while IFS= read -r module ||
        [ -n "$module" ]; do
        name=$(basename "$module")
        cp "$module" "$root/boot/module-$name"
        echo "module$version /boot/module-$name $name"
    done
    echo boot
} >"$root/boot/grub/grub.cfg"

# only what this boot needs: a small image is made and read faster
if ! grub-mkrescue -d /usr/lib/grub/i386-pc -o "$iso" --compress=no \
    --locales= --fonts= --themes= \
    --install-modules="normal multiboot$version iso9660 biosdisk" \
    "$root" >"$iso.log" 2>&1; then
    cat "$iso.log" >&2
    exit 1
fi
rm -rf "$root" "$iso.log"
