# SPDX-License-Identifier: Apache-2.0
#
# Clients that are in the image of the service, for LOAD=guest and for tests.
# Included by the Makefile.

#= run
#: guest: clients of irc or http are in the image, and a run repeats if QEMU
#: counts instructions; wrk: CLIENTS connections of it ask SERVICE=http for its
#: index; or no
LOAD ?= no
$(call one_of,LOAD,no wrk guest)

loaded := irc http
define loaded_rules
$(call objects,$1,kernel/load): | $(call libc,$1)
$(BUILD)/$1/libload.a: $(call objects,$1,kernel/load)
	$$(archive)
objects: $(call objects,$1,kernel/load)
$(foreach s,$(loaded),$(eval $(call loaded_image_rules,$1,$s)))
endef
define loaded_image_rules
$(call loaded_image,$1,$2): $(call core,$1) $(call objects,$1,services/$2) \
    $(addprefix $(BUILD)/$1/lib,load.a http.a net.a lwip.a task.a) \
    kernel/load/ldflags kernel/load/$2/ldflags kernel/profile_server/ldflags \
    linker/$1.ld linker/image.ld $(call libc,$1) tools/build/link.sh \
    $(BUILD)/host/embed
	$$(link)
test-images: $(call loaded_image,$1,$2)
endef
$(foreach w,$(WIDTHS),$(eval $(call loaded_rules,$w)))

ifeq ($(LOAD),guest)
$(call one_of,SERVICE,$(loaded),: LOAD=guest has clients for these)
$(if $(cpus),$(error CPUS=$(CPUS): LOAD=guest is for one))
# KVM counts no instructions
override ACCEL := tcg
load_args = -icount shift=0,align=off,sleep=off -rtc base=2026-01-01,clock=vm
endif
guest_load_words = net.per_address=2048 net.load_clients=$(CLIENTS) \
    net.load_sessions=$(SESSIONS)
