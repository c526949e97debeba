# SPDX-License-Identifier: Apache-2.0
MODULE := $(GET_LOCAL_DIR)
MODULE_SRCS := $(MODULE)/parasite.c
EXTRA_OBJS += $(PROF)/libprof.a
GLOBAL_COMPILEFLAGS += -I$(PROF)/include -fno-optimize-sibling-calls
include make/module.mk
