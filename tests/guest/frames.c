// SPDX-License-Identifier: Apache-2.0
// frames send DEV FILE: sends the frames of a file as they are.
// In the file a frame is its length, 16 bits of this machine's order, and its bytes.
// frames echo DEV N: takes N frames of EtherType IPv4 and identification 0x5a5a, tells the receive queue, length and source
// port of each, and sends it back. Ends with status 1 when none has come for two seconds.
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { QUEUES = 4, LONGEST = 9100, ID_AT = 18, MARK = 0x5a5a };

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static int open_socket(const char* dev, unsigned protocol) {
  const struct sockaddr_ll at = {.sll_family = AF_PACKET,
                                 .sll_protocol = htons((uint16_t)protocol),
                                 .sll_ifindex = (int)if_nametoindex(dev)};
  const int room = 8 << 20;
  const int fd = socket(AF_PACKET, SOCK_RAW, 0);
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) < 0) fail("socket");
  if (bind(fd, (const struct sockaddr*)&at, sizeof at) < 0) fail(dev);
  return fd;
}

// Of this receive queue alone, which the kernel counts from 1 on, and not what is sent.
static int open_queue(const char* dev, unsigned queue) {
  struct sock_filter words[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 5, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_QUEUE)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, queue + 1, 0, 3),
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, ID_AT),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0xffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const struct sock_fprog program = {sizeof words / sizeof *words, words};
  const int fd = open_socket(dev, ETH_P_IP);
  if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0) fail("filter");
  return fd;
}

int main(int count, char** words) {
  static uint8_t frame[LONGEST];
  uint16_t length;
  if (count < 4) return 2;
  const int echo = strcmp(words[1], "echo") == 0;
  const int out = open_socket(words[2], 0);
  FILE* file = echo ? NULL : fopen(words[3], "rb");
  if (!echo && !file) fail(words[3]);
  while (!echo && fread(&length, sizeof length, 1, file) == 1 && fread(frame, length, 1, file) == 1)
    if (send(out, frame, length, 0) < 0) fail("send");
  if (!echo) return 0;
  struct pollfd queue[QUEUES];
  for (unsigned q = 0; q < QUEUES; ++q)
    queue[q] = (struct pollfd){.fd = open_queue(words[2], q), .events = POLLIN};
  puts("ready");
  fflush(stdout);
  for (long left = atol(words[3]); left > 0;) {
    if (poll(queue, QUEUES, 2000) <= 0) return 1;
    for (unsigned q = 0; q < QUEUES; ++q) {
      if (!(queue[q].revents & POLLIN)) continue;
      const ssize_t bytes = recv(queue[q].fd, frame, sizeof frame, 0);
      if (bytes < 0) fail("recv");
      printf("queue %u bytes %u port %u\n", q, (unsigned)bytes, frame[34] << 8 | frame[35]);
      if (send(out, frame, (size_t)bytes, 0) < 0) fail("send");
      --left;
    }
  }
  return 0;
}
