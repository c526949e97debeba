/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LUA_DEB_MULTIARCH_H
#define LUA_DEB_MULTIARCH_H

/*
 * Debian's luaconf.h asks for this file: the folder of loadable modules, of
 * which a unikernel has none.
 */
#define DEB_HOST_MULTIARCH "none"

#endif
