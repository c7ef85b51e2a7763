// SPDX-License-Identifier: Apache-2.0
// Words from firmware to people: a line of `./emery run --firmware-log FILE`, with time and core.
//
// A character is one store to a device register, and some ten instructions; who does not print pays
// nothing. Lines of cores do not mix. Before the firmware has said that it is ready (boot.c) no
// line may begin with R: that is how it says so.
#ifndef EMERY_FIRMWARE_PRINT_H
#define EMERY_FIRMWARE_PRINT_H

#include <stdarg.h>

#include "hw.h"

static inline void print_char(char c) { DEVICE(Print) = (uint8_t)c; }

static __attribute__((unused, noinline)) void print_text(const char* text) {
  while (*text) print_char(*text++);
}

static __attribute__((unused, noinline)) void print_number(uint32_t value, uint32_t base) {
  char digits[10];
  uint32_t n = 0;
  do {
    const uint32_t digit = value % base;
    digits[n++] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
    value /= base;
  } while (value != 0);
  while (n != 0) print_char(digits[--n]);
}

// %u, %d, %x, %c, %s and %%, without widths. The line ends with \n, as ever.
static __attribute__((unused, noinline, format(printf, 1, 2))) void emery_printf(const char* format,
                                                                                 ...) {
  va_list arguments;
  va_start(arguments, format);
  for (char c; (c = *format) != 0; format++) {
    if (c != '%') {
      print_char(c);
      continue;
    }
    c = *++format;
    if (c == 0) break;
    if (c == 's') {
      print_text(va_arg(arguments, const char*));
    } else if (c == 'c') {
      print_char((char)va_arg(arguments, int));
    } else if (c == 'x') {
      print_number(va_arg(arguments, uint32_t), 16);
    } else if (c == 'u' || c == 'd') {
      uint32_t value = va_arg(arguments, uint32_t);
      if (c == 'd' && (int32_t)value < 0) {
        print_char('-');
        value = -value;
      }
      print_number(value, 10);
    } else {
      print_char(c);
    }
  }
  va_end(arguments);
}

#endif
