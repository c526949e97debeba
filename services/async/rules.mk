# SPDX-License-Identifier: Apache-2.0
#
# `make async`: records one of the service's demos. Included by the Makefile.

#= profile
#: what `make async` records; DEMO=list says which there are
DEMO ?= disk
async_disk := driver=null-co,node-name=disk,size=1048576,read-zeroes=on
# each request takes a millisecond
async_disk := $(async_disk),latency-ns=1000000

#: QEMU's network for `make async`
NETDEV ?= user,id=net,guestfwd=tcp:10.0.2.100:9-null
#: its address there; two guests on one network need different ones
MAC ?= 52:54:00:12:34:56

.PHONY: async
ifeq ($(DEMO),list)
async: $(call image,$(ARCH),services/async)
	$(Q)ARCH=$(ARCH) APPEND="demo=list prof.start=off prof.every=0" \
	    QUIET=1 tools/build/run.py $<
else
#: record DEMO of the service async to OUT, and say what it waited for
async: $(call image,$(ARCH),services/async) $(BUILD)/host/parasite \
    $(accel_needs)
	$(Q)ACCEL=$$($(accel)) || exit; \
	    $(BUILD)/host/parasite record -q $(record_rate) -t virtio -o $(OUT) -- \
	    qemu-system-$(ARCH) -accel $$ACCEL -display none \
	    -no-reboot -monitor none -m $(MEM) \
	    -netdev $(NETDEV) -device virtio-net-pci,netdev=net,mac=$(MAC) \
	    -device isa-debug-exit,iobase=0xf4,iosize=0x04 -kernel $< \
	    -blockdev $(async_disk) \
	    -device virtio-blk-pci,drive=disk \
	    -append "demo=$(DEMO) prof.trace=stream $(APPEND)" $(QEMU_ARGS)
	$(Q)$(BUILD)/host/parasite info --check $(OUT)
	$(Q)$(BUILD)/host/parasite tasks $(OUT)
endif
