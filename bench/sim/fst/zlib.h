// SPDX-License-Identifier: Apache-2.0
// What Verilator's writer of FST calls of zlib: its library is on every Debian machine, its header
// (zlib1g-dev) is not.
#pragma once

using Bytef = unsigned char;
using uLong = unsigned long;
using uLongf = uLong;
inline constexpr int Z_OK = 0;

extern "C" {
uLong compressBound(uLong size);
int compress2(Bytef* to, uLongf* room, const Bytef* from, uLong size, int level);
}
