// SPDX-License-Identifier: Apache-2.0
// xdp DEV ACTION [udp PORT]: puts a small XDP program on a device of the guest, in the driver itself.
// It needs no compiler for programs and no library: instructions are put together here.
//
//   drop pass aborted     what XDP calls so; `invalid`: a verdict that there is not
//   tx                    back to where the frame came from, addresses exchanged
//   redirect DEV          to another device's line (or its own)
//   cpu N                 to the stack, by way of that CPU's queue (a cpumap)
//   tag VID               to the stack, with a VLAN tag put in
//   off                   no program any more
//
// With `udp PORT` it is done with frames of UDP over IPv4 to that port; all others pass.
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/in.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 64, INVALID = 99, ADDRESSES = 2 * ETH_ALEN, TAG = 4 };
enum { R0, R1, R2, R3, R4, R5, R6 };  // R6: the context

struct program {
  struct bpf_insn code[MOST];
  int count;
  int misses[MOST], missed;  // jumps of frames that just pass
};

static void fail(const char* what) {
  fprintf(stderr, "xdp: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int bpf(int command, union bpf_attr* attr) {
  return (int)syscall(SYS_bpf, command, attr, sizeof *attr);
}

static void put(struct program* p, int code, int dst, int src, int off, int imm) {
  p->code[p->count++] = (struct bpf_insn){.code = (unsigned char)code,
                                          .dst_reg = dst & 15,
                                          .src_reg = src & 15,
                                          .off = (short)off,
                                          .imm = imm};
}
static void move(struct program* p, int dst, int src) {
  put(p, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}
static void set(struct program* p, int dst, int imm) {
  put(p, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm);
}
static void load(struct program* p, int size, int dst, int src, int off) {
  put(p, BPF_LDX | BPF_MEM | size, dst, src, off, 0);
}
static void store(struct program* p, int size, int dst, int src, int off) {
  put(p, BPF_STX | BPF_MEM | size, dst, src, off, 0);
}
static void call(struct program* p, int function) { put(p, BPF_JMP | BPF_CALL, 0, 0, 0, function); }
static void leave(struct program* p) { put(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0); }

// Where it jumps is known at the end.
static void miss(struct program* p, int operation, int dst, int src, int imm) {
  p->misses[p->missed++] = p->count;
  put(p, BPF_JMP | operation, dst, src, 0, imm);
}

// R2 begins the frame, of so many bytes at the least.
static void need(struct program* p, int bytes) {
  load(p, BPF_W, R2, R6, offsetof(struct xdp_md, data));
  load(p, BPF_W, R3, R6, offsetof(struct xdp_md, data_end));
  move(p, R4, R2);
  put(p, BPF_ALU64 | BPF_ADD | BPF_K, R4, 0, 0, bytes);
  miss(p, BPF_JGT | BPF_X, R4, R3, 0);
}

static int swapped(int value) { return (value & 0xff) << 8 | value >> 8; }

static void only_udp(struct program* p, int port) {
  need(p, 42);
  load(p, BPF_H, R3, R2, 12);
  miss(p, BPF_JNE | BPF_K, R3, 0, swapped(ETH_P_IP));
  load(p, BPF_B, R3, R2, 23);
  miss(p, BPF_JNE | BPF_K, R3, 0, IPPROTO_UDP);
  load(p, BPF_H, R3, R2, 36);
  miss(p, BPF_JNE | BPF_K, R3, 0, swapped(port));
}

static void exchange_addresses(struct program* p) {
  need(p, ADDRESSES);
  for (int at = 0; at < 6; at += 2) {
    load(p, BPF_H, R3, R2, at);
    load(p, BPF_H, R4, R2, at + 6);
    store(p, BPF_H, R2, R4, at);
    store(p, BPF_H, R2, R3, at + 6);
  }
}

static void put_tag_in(struct program* p, int vid) {
  move(p, R1, R6);
  set(p, R2, -TAG);
  call(p, BPF_FUNC_xdp_adjust_head);
  miss(p, BPF_JNE | BPF_K, R0, 0, 0);
  need(p, ADDRESSES + TAG);
  for (int at = 0; at < ADDRESSES; at += 2) {
    load(p, BPF_H, R3, R2, at + TAG);
    store(p, BPF_H, R2, R3, at);
  }
  put(p, BPF_ST | BPF_MEM | BPF_H, R2, 0, ADDRESSES, swapped(ETH_P_8021Q));
  put(p, BPF_ST | BPF_MEM | BPF_H, R2, 0, ADDRESSES + 2, swapped(vid));
}

static void redirect_to_cpu(struct program* p, unsigned cpu) {
  struct bpf_cpumap_val value = {.qsize = 512};
  union bpf_attr attr = {.map_type = BPF_MAP_TYPE_CPUMAP,
                         .key_size = sizeof cpu,
                         .value_size = sizeof value,
                         .max_entries = cpu + 1};
  const int map = bpf(BPF_MAP_CREATE, &attr);
  if (map < 0) fail("a map of CPUs");
  memset(&attr, 0, sizeof attr);
  attr.map_fd = (unsigned)map;
  attr.key = (unsigned long)&cpu;
  attr.value = (unsigned long)&value;
  if (bpf(BPF_MAP_UPDATE_ELEM, &attr) < 0) fail("that CPU");
  put(p, BPF_LD | BPF_DW | BPF_IMM, R1, BPF_PSEUDO_MAP_FD, 0, map);
  put(p, 0, 0, 0, 0, 0);
  set(p, R2, (int)cpu);
  set(p, R3, 0);
  call(p, BPF_FUNC_redirect_map);
}

static int link_of(const char* device) {
  const unsigned index = if_nametoindex(device);
  if (index == 0) fail(device);
  return (int)index;
}

static int number(const char* text) {
  char* end;
  const long value = text ? strtol(text, &end, 10) : -1;
  if (!text || *end || value < 0 || value > 65535) {
    fprintf(stderr, "xdp: %s is not a number\n", text ? text : "nothing");
    exit(2);
  }
  return (int)value;
}

// Instructions that leave the verdict in R0.
static void act(struct program* p, const char* action, const char* of) {
  static const struct {
    const char* name;
    int verdict;
  } plain[] = {{"drop", XDP_DROP},
               {"pass", XDP_PASS},
               {"aborted", XDP_ABORTED},
               {"tx", XDP_TX},
               {"invalid", INVALID}};
  if (strcmp(action, "tx") == 0) exchange_addresses(p);
  for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i) {
    if (strcmp(action, plain[i].name) != 0) continue;
    set(p, R0, plain[i].verdict);
    return;
  }
  if (strcmp(action, "redirect") == 0 && of) {
    set(p, R1, link_of(of));
    set(p, R2, 0);
    call(p, BPF_FUNC_redirect);
  } else if (strcmp(action, "cpu") == 0) {
    redirect_to_cpu(p, (unsigned)number(of));
  } else if (strcmp(action, "tag") == 0) {
    put_tag_in(p, number(of));
    set(p, R0, XDP_PASS);
  } else {
    fprintf(stderr, "xdp: there is no '%s'\n", action);
    exit(2);
  }
}

static int load_program(struct program* p) {
  static char log[1 << 16];
  leave(p);
  for (int i = 0; i < p->missed; ++i)
    p->code[p->misses[i]].off = (short)(p->count - p->misses[i] - 1);
  if (p->missed) {
    set(p, R0, XDP_PASS);
    leave(p);
  }
  union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_XDP,
                         .insn_cnt = (unsigned)p->count,
                         .insns = (unsigned long)p->code,
                         .license = (unsigned long)"GPL",
                         .log_buf = (unsigned long)log,
                         .log_size = sizeof log,
                         .log_level = 1};
  const int fd = bpf(BPF_PROG_LOAD, &attr);
  if (fd < 0) {
    fputs(log, stderr);
    fail("the program");
  }
  return fd;
}

static void add(struct nlmsghdr* to, int type, const void* from, size_t bytes) {
  struct rtattr* at = (struct rtattr*)((char*)to + NLMSG_ALIGN(to->nlmsg_len));
  at->rta_type = (unsigned short)type;
  at->rta_len = (unsigned short)RTA_LENGTH(bytes);
  memcpy(RTA_DATA(at), from, bytes);
  to->nlmsg_len = NLMSG_ALIGN(to->nlmsg_len) + RTA_ALIGN(at->rta_len);
}

// What the kernel says to an error.
static const char* why(const struct nlmsghdr* said, const struct nlmsgerr* error) {
  const size_t echoed = said->nlmsg_flags & NLM_F_CAPPED ? sizeof error->msg : error->msg.nlmsg_len;
  const struct rtattr* at = (const struct rtattr*)((const char*)&error->msg + NLMSG_ALIGN(echoed));
  long left = (const char*)said + said->nlmsg_len - (const char*)at;
  for (; (said->nlmsg_flags & NLM_F_ACK_TLVS) && RTA_OK(at, left); at = RTA_NEXT(at, left))
    if (at->rta_type == NLMSGERR_ATTR_MSG) return RTA_DATA(at);
  return "the device";
}

// By rtnetlink: it stays when this process ends. -1: none.
static void attach(int link, int program) {
  struct {
    struct nlmsghdr head;
    struct ifinfomsg info;
    char more[64];
  } ask = {.head = {.nlmsg_len = NLMSG_LENGTH(sizeof ask.info),
                    .nlmsg_type = RTM_SETLINK,
                    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
           .info = {.ifi_index = link}};
  struct rtattr* nest = (struct rtattr*)((char*)&ask + NLMSG_ALIGN(ask.head.nlmsg_len));
  const unsigned begin = ask.head.nlmsg_len, flags = XDP_FLAGS_DRV_MODE;
  add(&ask.head, IFLA_XDP | NLA_F_NESTED, NULL, 0);
  add(&ask.head, IFLA_XDP_FD, &program, sizeof program);
  add(&ask.head, IFLA_XDP_FLAGS, &flags, sizeof flags);
  nest->rta_len = (unsigned short)(ask.head.nlmsg_len - begin);

  char answer[4096];
  const struct nlmsghdr* said = (const struct nlmsghdr*)answer;
  const int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), on = 1;
  if (fd < 0 || setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on) < 0 ||
      send(fd, &ask, ask.head.nlmsg_len, 0) < 0 || recv(fd, answer, sizeof answer, 0) < 0)
    fail("netlink");
  const struct nlmsgerr* error = NLMSG_DATA(said);
  errno = -error->error;
  if (errno != 0) fail(why(said, error));
}

int main(int argc, char** argv) {
  struct program p = {.count = 0};
  if (argc < 3) {
    fprintf(stderr, "usage: xdp DEV drop|pass|aborted|invalid|tx|redirect DEV|cpu N|tag VID|off [udp PORT]\n");
    return 2;
  }
  const int link = link_of(argv[1]);
  if (strcmp(argv[2], "off") == 0) {
    attach(link, -1);
    return 0;
  }
  move(&p, R6, R1);
  for (int i = 3; i < argc - 1; ++i)
    if (strcmp(argv[i], "udp") == 0) only_udp(&p, number(argv[i + 1]));
  act(&p, argv[2], argv[3]);
  attach(link, load_program(&p));
  return 0;
}
