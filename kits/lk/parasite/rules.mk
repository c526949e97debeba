# SPDX-License-Identifier: Apache-2.0
MODULE := $(GET_LOCAL_DIR)
MODULE_SRCS := $(MODULE)/parasite.c
EXTRA_OBJS += $(PROF)/libprof.a
GLOBAL_COMPILEFLAGS += -I$(PROF)/include -fno-omit-frame-pointer \
    -fno-optimize-sibling-calls -DPROF_CPUS_MAX=16
include make/module.mk
