# SPDX-License-Identifier: Apache-2.0
#
# Coroutines of C++20, which clang 14 does not have without a library: always by
# gcc. Included by the Makefile.

define coroutines_rules
$(BUILD)/$1/obj/services/coroutines/%.o: override CC := gcc
$(BUILD)/$1/obj/services/coroutines/%.o: \
    CC_INCLUDE = $$(shell gcc -print-file-name=include)
$(BUILD)/$1/obj/services/coroutines/%.o: \
    CXX_GUEST += -std=gnu++20 -fcoroutines
endef
$(foreach b,$(BUILDS),$(eval $(call coroutines_rules,$b)))
