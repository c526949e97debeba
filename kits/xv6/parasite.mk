# SPDX-License-Identifier: Apache-2.0
include Makefile
# xv6 starts with 4 MiB
CFLAGS += -I$(PROF)/include -DPROF_BEGIN_POOL=1048576 -DPROF_CPUS_MAX=8 \
    -DPROF_CPU_BY=PROF_CPU_BY_TSC_AUX
kernel: private LDFLAGS += --wrap=wakeup --wrap=scheduler parasite.o \
    $(PROF)/libprof.a
kernel: parasite.o
xv6.img: embedded
embedded: kernel; parasite embed kernel
