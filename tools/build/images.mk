# SPDX-License-Identifier: Apache-2.0
#
# Images: services, and those of tests/guest and bench. Included by the
# Makefile.

define link
$(call begin,LD)
$(Q)tools/build/link.sh $(BUILD)/host/embed $(@:.elf=) \
    ld -m elf_$W -T linker/$W.ld -nostdlib -static --fatal-warnings \
    -z noexecstack $(shell cat $(filter %/ldflags,$^) /dev/null) \
    --start-group $(filter %.o,$^) $(filter %.a,$^) \
    $(NEWLIB)/$W/lib/libm.a $(libgcc) --end-group
endef
folders = $(sort $(patsubst %/,%,$(dir $(wildcard $1/*/*.c $1/*/*.cpp))))
services := $(call folders,services)
one_of = $(if $(filter $($1),$2),,$(error $1=$($1): must be one of $2$3))
$(call one_of,ARCH,$(WIDTHS))
$(if $(findstring /,$(SERVICE)),$(if $(wildcard $(service)/*.c \
    $(service)/*.cpp),,$(error SERVICE=$(SERVICE): no *.c or *.cpp in it)),\
    $(call one_of,SERVICE,$(notdir $(services)),$(comma) or a folder: ./mine))
$(call one_of,LOADER,kernel grub)
$(if $(filter-out $(if $(cpus),$(shell seq 64)),$(cpus)),$(error \
    CPUS=$(CPUS): must be 1 to 64))
$(call one_of,ACCEL,auto tcg kvm)
smp_only := $(call folders,tests/guest/smp) bench/irqs_off
programs := $(services) $(filter-out $(smp_only),$(call \
    folders,tests/guest/*) $(call folders,bench))
# those that are built for several CPUs, too, or only so
smp_programs := $(sort $(smp_only) \
    $(addprefix services/,http irc split) $(addprefix bench/,cpus lapic) \
    tests/guest/profiler/both_sides \
    $(if $(cpus),$(filter $(service),$(services))))
# $1 width, $2 the folder of the sources
image = $(BUILD)/$1/$(if $(filter tests/guest/%,$2),test/$(notdir \
    $2),$(patsubst services/%,%,$(patsubst /%,elsewhere/%,$2)))/$(notdir \
    $2).elf
# the same with clients in it
loaded_image = $(BUILD)/$1/load/$(notdir $2)/$(notdir $2).elf
images = $(foreach w,$(WIDTHS),$(foreach f,$1,$(call image,$w,$f)))
smp_images := $(foreach w,$(WIDTHS),$(foreach f,$(smp_programs),$(call \
    image,smp/$w,$f)))
define image_rules
$(call objects,$1,$2): | $(call libc,$1)
$(image): $(call core,$1) $(call objects,$1,$2) $(wildcard $2/ldflags) \
    $(if $(filter tests/guest/%,$2),$(BUILD)/$1/libguest.a) \
    linker/$(notdir $1).ld linker/image.ld $(call libc,$1) \
    tools/build/link.sh $(BUILD)/host/embed
	$$(link)
endef
$(foreach w,$(WIDTHS),$(foreach f,$(programs),$(eval \
    $(call image_rules,$w,$f))))
$(foreach w,$(WIDTHS),$(foreach f,$(smp_programs),$(eval \
    $(call image_rules,smp/$w,$f))))
# a program of somebody's own sees what a service sees, and may have warnings
define own_rules
$(call image_rules,$1,$(service))
$(call objects,$1,$(service)): private room = $$(room.services)
$(call objects,$1,$(service)): private WERROR :=
endef
$(if $(filter $(service),$(programs)),,$(foreach b,$(BUILDS),$(eval \
    $(call own_rules,$b))))
