# SPDX-License-Identifier: Apache-2.0
#
# Xen in QEMU's emulator, a Linux as its dom0, and guests that are sampled from
# there. Included by the Makefile.

xen := $(BUILD)/xen
xen_root := $(xen)/root/usr
xen_archives := $(addprefix $(xen_root)/lib/x86_64-linux-gnu/lib,$(addsuffix \
    .a,xenctrl xenforeignmemory xenevtchn xengnttab xendevicemodel xencall \
    xentoolcore xentoollog))
xen_programs := $(addprefix $(xen)/,parasite plain wire com1 emulate.so)
xen_guests := $(addprefix $(xen)/,pvh64.elf pvh32.elf pv64.elf pv32.elf)
xen_image := $(call image,x86_64,services/split)

$(xen)/xen_calls.o: host/xen/xen_calls.c $(xen)/unpacked
	$(call host_compile,-O2 -DPARASITE_XEN -isystem $(xen_root)/include)
$(xen)/parasite: $(BUILD)/host/obj/host/cli/main.o \
    $(xen)/xen_calls.o \
    $(BUILD)/host/libparasite.a $(BUILD)/host/libdemangle.a
	$(call begin,HOSTLD)
	$(Q)gcc -o $@ $^ $(parasite_libraries) $(xen_archives)
$(xen)/%: tests/xen/%.c $(xen)/unpacked
	$(call begin,HOSTCC)
	$(Q)gcc -std=gnu11 -O2 $(WARNINGS) -isystem $(xen_root)/include -static \
	    -o $@ $< $(xen_archives)
$(xen)/%.so: tests/xen/%.c $(xen)/unpacked
	$(call begin,HOSTCC)
	$(Q)gcc -std=gnu11 -O2 $(WARNINGS) -isystem $(xen_root)/include -shared \
	    -fPIC -o $@ $<
$(xen)/%.elf: tests/xen/guest.asm tests/xen/guest.ld | $(xen)/unpacked
	$(call begin,NASM)
	$(Q)nasm -f elf$(if $(findstring 64,$*),64,32) -Werror \
	    -D$(if $(findstring pvh,$*),PVH,PV) -o $(@:.elf=.o) $<
	$(Q)ld -m elf_$(if $(findstring 64,$*),x86_64,i386) \
	    --no-warn-rwx-segments -T tests/xen/guest.ld -o $@ $(@:.elf=.o)

.PHONY: xen xen-boot
#= test
#: attach xen:DOMID: boots Xen, a dom0 and guests in QEMU (75 MB of packages)
xen:
	$(Q)problem=$$(tools/build/unpack.sh tests/xen/packages.txt $(xen)) || { \
	    echo "skipped: make xen: $$problem"; exit 0; }; \
	    $(MAKE) --no-print-directory xen-boot
xen-boot: $(xen_programs) $(xen_guests) $(xen_image)
	$(Q)PYTHONPATH=tests PYTHONDONTWRITEBYTECODE=1 \
	    python3 tests/xen/xen.py $(BUILD)
