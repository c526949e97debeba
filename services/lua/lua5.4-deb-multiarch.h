/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LUA_DEB_MULTIARCH_H
#define LUA_DEB_MULTIARCH_H

/*
 * Included by Debian's luaconf.h: the folder of loadable modules, which a
 * unikernel does not have.
 */
#define DEB_HOST_MULTIARCH "none"

#endif
