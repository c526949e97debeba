# SPDX-License-Identifier: Apache-2.0
#
# `make async`: records one of the service's demos. Included by the Makefile.

#: which of SERVICE=async is run: `make async DEMO=list` lists them
DEMO ?= disk
#: the trace that `make async` records
OUT ?= x.trace
async_disk := driver=null-co,node-name=disk,size=1048576,read-zeroes=on
# each request takes a millisecond
async_disk := $(async_disk),latency-ns=1000000

#: QEMU's network of `make async`
NETDEV ?= user,id=net,guestfwd=tcp:10.0.2.100:9-null
#: and its address there, of two guests on one network different ones
MAC ?= 52:54:00:12:34:56

.PHONY: async
#: record DEMO to OUT and say what it waited for
async: $(call image,$(ARCH),services/async) $(BUILD)/host/parasite
	$(Q)$(BUILD)/host/parasite record -q -F $(HZ) -t virtio -o $(OUT) -- \
	    qemu-system-$(ARCH) -accel $(ACCEL:auto=tcg) -display none \
	    -no-reboot -monitor none -m $(MEM) \
	    -netdev $(NETDEV) -device virtio-net-pci,netdev=net,mac=$(MAC) \
	    -device isa-debug-exit,iobase=0xf4,iosize=0x04 -kernel $< \
	    -blockdev $(async_disk) \
	    -device virtio-blk-pci,drive=disk \
	    -append "demo=$(DEMO) prof.trace=stream $(APPEND)" $(QEMU_ARGS)
	$(Q)$(BUILD)/host/parasite info --check $(OUT)
	$(Q)$(BUILD)/host/parasite tasks $(OUT)
