# SPDX-License-Identifier: Apache-2.0
#
# The parts of the web server that parse untrusted input, built for the host's
# unit tests. Included by the Makefile.

define http_host_rules
$(BUILD)/host$1/libhttp.a: $(addprefix $(BUILD)/host$1/obj/services/http/,\
    deadline.o files.o parse.o)
	$$(archive)
$(patsubst tests/unit/services/%.c,$(BUILD)/host$1/%,\
    $(wildcard tests/unit/services/http_*_test.c)): $(BUILD)/host$1/libhttp.a
endef
$(foreach b,32 64,$(eval $(call http_host_rules,$b)))
