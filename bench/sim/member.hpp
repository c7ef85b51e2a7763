// SPDX-License-Identifier: Apache-2.0
// Members of the RTL's structs at a model's ports.
#pragma once

// Verilator has a struct that is not packed as one of C++, and puts this before its members' names.
#define EMERY_MEMBER(name) __PVT__##name
