// SPDX-License-Identifier: Apache-2.0
// Loaded before a user-mode Linux (LD_PRELOAD), in place of some calls of its C library.
//
// getrandom: numbers from GUEST_SEED.
//
// Before all: addresses that are the same in each run, where this machine allows that. The kernel's
// memory begins where the process's heap does, and the kernel hashes by address.
//
// ptrace: registers of vectors in full. Linux 6.1 keeps 2,696 bytes of them; a host whose processor
// has more (AMX) takes no fewer than it has. What is missing stays as the process has it.
//
// epoll_wait: what is typed at a terminal (descriptor 0) and not read is told once more. While it
// waits for time to go on, Linux 6.1 looks for its devices' interrupts only, and forgets that it
// was told of others.
#define _GNU_SOURCE
#include <elf.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_STATE = 1 << 16 };

__attribute__((constructor)) static void same_addresses(int argc, char** argv, char** environment) {
  (void)argc;
  const int now = personality(0xffffffff);
  if (now == -1 || (now & ADDR_NO_RANDOMIZE)) return;
  if (personality((unsigned)now | ADDR_NO_RANDOMIZE) == -1) return;
  execve("/proc/self/exe", argv, environment);
}

// SplitMix64.
static uint64_t next_random(void) {
  static uint64_t state;
  static int seeded;
  if (!seeded) {
    const char* seed = getenv("GUEST_SEED");
    state = seed ? strtoull(seed, NULL, 10) : 0;
    seeded = 1;
  }
  uint64_t x = state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

ssize_t getrandom(void* buffer, size_t bytes, unsigned flags) {
  uint8_t* at = buffer;
  (void)flags;
  for (size_t i = 0; i < bytes; ++i) at[i] = (uint8_t)next_random();
  return (ssize_t)bytes;
}

static long vectors(long request, long pid, void* addr, struct iovec* theirs) {
  static uint8_t state[MOST_STATE];
  struct iovec all = {state, sizeof state};
  long status = syscall(SYS_ptrace, PTRACE_GETREGSET, pid, addr, &all);
  if (status != 0) return status;
  if (theirs->iov_len > all.iov_len) theirs->iov_len = all.iov_len;
  if (request == PTRACE_GETREGSET) {
    memcpy(theirs->iov_base, state, theirs->iov_len);
    return 0;
  }
  memcpy(state, theirs->iov_base, theirs->iov_len);
  return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, addr, &all);
}

long ptrace(enum __ptrace_request request, ...) {
  va_list rest;
  va_start(rest, request);
  const long pid = va_arg(rest, pid_t);
  void* addr = va_arg(rest, void*);
  void* data = va_arg(rest, void*);
  va_end(rest);
  if ((request == PTRACE_GETREGSET || request == PTRACE_SETREGSET) &&
      (uintptr_t)addr == NT_X86_XSTATE)
    return vectors(request, pid, addr, data);
  // The system call stores what a PEEK reads; the library's returns it.
  if (request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER) {
    long word = 0;
    const long status = syscall(SYS_ptrace, request, pid, addr, &word);
    return status < 0 ? status : word;
  }
  return syscall(SYS_ptrace, request, pid, addr, data);
}

static void* terminal;  // the kernel's name for descriptor 0, where it listens to that

int epoll_ctl(int epoll, int operation, int descriptor, struct epoll_event* event) {
  if (descriptor == 0) terminal = operation == EPOLL_CTL_DEL ? NULL : event->data.ptr;
  return (int)syscall(SYS_epoll_ctl, epoll, operation, descriptor, event);
}

// Asked again at once, it does not tell it again: who asks does so until there is nothing new.
int epoll_wait(int epoll, struct epoll_event* events, int most, int timeout) {
  static int just_told;
  const int found = (int)syscall(SYS_epoll_wait, epoll, events, most, timeout);
  if (!terminal) return found;
  struct pollfd typed = {.fd = 0, .events = POLLIN};
  if (found == 0 && !just_told && poll(&typed, 1, 0) == 1 && (typed.revents & POLLIN)) {
    events[0] = (struct epoll_event){.events = EPOLLIN, .data.ptr = terminal};
    just_told = 1;
    return 1;
  }
  just_told = 0;
  for (int i = 0; i < found; ++i) just_told |= events[i].data.ptr == terminal;
  return found;
}
