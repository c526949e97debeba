# SPDX-License-Identifier: Apache-2.0
#
# HTTP and the profiler's port, as one archive: for images whose service uses
# the network, for those of the services below, and for SERVICE with PORT=.
# Included by the Makefile.

#= run
#: port in the guest, and of 127.0.0.1, at which the profile of SERVICE is
#: served; links the profiler's port into a program that has none
PORT ?=
#: what the guest wants to be shown for its profile; empty = something random
TOKEN ?=

port_programs := $(sort $(net_programs) services/lua services/lottery)
define profile_server_rules
$(call objects,$1,kernel/http kernel/profile_server): \
    | $(call libc,$1)
$(BUILD)/$1/libhttp.a: $(call objects,$1,kernel/http kernel/profile_server)
	$$(archive)
$(foreach f,$(port_programs) $(if $(PORT),$(service)),$(call image,$1,$f)): \
    $(BUILD)/$1/libhttp.a $(BUILD)/$1/libnet.a $(BUILD)/$1/liblwip.a \
    kernel/profile_server/ldflags
objects: $(call objects,$1,kernel/http kernel/profile_server)
endef
$(foreach b,$(BUILDS),$(eval $(call profile_server_rules,$b)))

# what `make run` and `make record` add to the command line, and to QEMU's user
# network, which irc and http have already
served_token := $(if $(PORT)$(filter http,$(SERVICE)),$(or \
    $(TOKEN),$(shell od -An -N8 -tx1 /dev/urandom | tr -d ' \n')))
ifneq ($(PORT),)
port_words = prof.port=$(PORT) prof.token=$(served_token)
port_forward = $(comma)hostfwd=tcp:127.0.0.1:$(PORT)-:$(PORT)
port_says = $(if $(filter -netdev -nic,$(QEMU_ARGS)),\
    prof.token=$(served_token),http://127.0.0.1:$(PORT)/?token=$(served_token))
export FORWARD = $(port_forward)
ifeq ($(filter irc http,$(SERVICE))$(filter -netdev -nic,$(QEMU_ARGS)),)
load_args = -netdev user,id=port$(port_forward) \
    -device virtio-net-pci,netdev=port
endif
endif

# An image that has the port only because of PORT has a stamp beside it, and is
# linked again once that has changed.
port_stamp := $(if $(PORT),$(patsubst %.elf,%.port,$(if $(filter \
    $(service),$(port_programs)),,$(IMAGE))))
define port_unwanted
.PHONY: $1-unwanted
$1-unwanted:
	$(Q)rm -f $1
$(1:.port=.elf): $1-unwanted
endef
ifneq ($(port_stamp),)
$(IMAGE): $(port_stamp)
$(port_stamp):
	$(Q)mkdir -p $(@D) && touch $@
endif
$(foreach s,$(filter-out $(port_stamp),$(wildcard $(BUILD)/*/*/*.port)),$(eval \
    $(call port_unwanted,$s)))
