# SPDX-License-Identifier: Apache-2.0
#
# The profiler for kernels that are not built here: installed with what
# pkg-config and CMake want to know, or packed as sources. Included by the
# Makefile.

version = $(shell sed -n 's/.*PARASITE_VERSION "\(.*\)"/\1/p' \
    host/cli/arguments.c)
library = $(DESTDIR)$(PREFIX)/lib
headers = $(DESTDIR)$(PREFIX)/include/parasite/prof
config_define = $(if $(LIB_CONFIG),-DPROF_CONFIG_HEADER=<prof/choice.h>)
filled_in = sed 's|@VERSION@|$(version)|; s|@DEFINES@|$1|'

.PHONY: install-lib dist-embed
#= embed
#: the profiler, its headers, pkg-config and CMake files, below PREFIX
install-lib: lib
	install -d $(headers) $(library)/pkgconfig $(library)/cmake/parasite
	install -m 644 profiler/include/prof/* $(headers)
	$(if $(LIB_CONFIG),install -m 644 $(LIB_CONFIG) $(headers)/choice.h)
	for w in $(WIDTHS); do install -D -m 644 -t $(library)/parasite/$$w \
	    $(BUILD)/$$w/libprof.a $(BUILD)/$$w/profiler.o || exit 1; done
	$(call filled_in,$(config_define:%='\''%'\'')) \
	    tools/package/parasite.pc.in >$(library)/pkgconfig/parasite.pc
	for f in parasiteConfig parasiteConfigVersion; do $(call \
	    filled_in,$(config_define)) tools/package/$$f.cmake.in \
	    >$(library)/cmake/parasite/$$f.cmake || exit 1; done
#: the profiler's sources for `cc -c *.c` and nasm: build/parasite-embed.tar.gz
dist-embed: $(BUILD)/parasite-embed.tar.gz
.PHONY: $(BUILD)/parasite-embed.tar.gz
$(BUILD)/parasite-embed.tar.gz: $(WIDTHS:%=$(BUILD)/%/prof_offsets.inc)
	$(call begin,TAR)
	$(Q)tools/package/dist_embed.py $(LIB_CONFIG:%=--config %) $(version) \
	    $^ $@
