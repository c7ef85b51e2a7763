// SPDX-License-Identifier: Apache-2.0
// What Verilator's writer of FST calls of lz4: its library is on every Debian machine, its header
// (liblz4-dev) is not.
#pragma once

extern "C" {
int LZ4_compressBound(int size);
int LZ4_compress_default(const char* from, char* to, int size, int room);
}
