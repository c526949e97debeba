# SPDX-License-Identifier: Apache-2.0
#
# Generated programs: written from a seed into BUILD/generated, and linked with
# their driver as every image is. Included by the Makefile.

generated := tests/truth/generated
generated_all := $(sort \
    $(shell sed -n '/^[a-z]/s/ .*//p' $(generated)/programs))
# $1: a width; what `make test` runs at it
generated_short = $(sort \
    $(shell awk '$$3 == "short" || $$3 == "$1" { print $$1 }' \
    $(generated)/programs))
# $1: a width, $2: programs
generated_images = $(foreach p,$2,$(BUILD)/$1/generated/$p/$p.elf)

$(BUILD)/generated/%/code.asm: $(wildcard $(generated)/*.py)
	$(call begin,GENERATE)
	$(Q)python3 $(generated)/generate.py $* $(@D)
define generated_rules
$(BUILD)/$1/obj/generated/%/code.o: $(BUILD)/generated/%/code.asm \
    $(generated)/machine.inc | packages
	$$(call begin,NASM)
	$(Q)nasm -f elf$$(bits) -g -F dwarf -Werror -I$(generated)/ -o $$@ $$<
$(call objects,$1,$(generated)): | $(NEWLIB)/$1/lib/libc.a
$(call generated_images,$1,$(generated_all)): \
$(BUILD)/$1/generated/%.elf: $(call core,$1) $(call objects,$1,$(generated)) \
    linker/$1.ld linker/image.ld $(NEWLIB)/$1/lib/libc.a \
    tools/build/link.sh $(BUILD)/host/embed
	$$(link)
$(foreach p,$(generated_all),$(eval $(BUILD)/$1/generated/$p/$p.elf: \
    $(BUILD)/$1/obj/generated/$p/code.o))
endef
$(foreach w,$(WIDTHS),$(eval $(call generated_rules,$w)))
objects: $(foreach w,$(WIDTHS),$(call objects,$w,$(generated)))
test-images: $(foreach w,$(WIDTHS),\
    $(call generated_images,$w,$(call generated_short,$w)))
truth: $(foreach w,$(WIDTHS),$(call generated_images,$w,$(generated_all)))
