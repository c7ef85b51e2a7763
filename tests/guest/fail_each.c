// SPDX-License-Identifier: Apache-2.0
// fail_each DEV: brings a device up, again and again: the first time the first allocation on the way
// fails (fault injection of the kernel), then the second, until six in a row were not needed so
// much that it could not come up. Says how many it was refused. Each time it has to be as it was.
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int link_of(int command, struct ifreq* request) {
  static int fd = -1;
  if (fd < 0) fd = socket(AF_INET, SOCK_DGRAM, 0);
  return ioctl(fd, (unsigned long)command, request);
}

static void put(const char* file, const char* text) {
  const int fd = open(file, O_WRONLY);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) {
    perror(file);
    exit(1);
  }
  close(fd);
}

static void fail_kind(const char* kind) {
  char file[96];
  snprintf(file, sizeof file, "/sys/kernel/debug/%s/ignore-gfp-wait", kind);
  put(file, "N");
  snprintf(file, sizeof file, "/sys/kernel/debug/%s/verbose", kind);
  put(file, "0");
}

static void set_up(struct ifreq* request, int up) {
  request->ifr_flags = (short)(up ? IFF_UP : 0);
  if (link_of(SIOCSIFFLAGS, request) < 0) perror("flags");
}

int main(int argc, char** argv) {
  struct ifreq request = {0};
  int refused = 0, well = 0;
  if (argc != 2) return 2;
  const int fd = open("/proc/thread-self/fail-nth", O_RDWR);
  strncpy(request.ifr_name, argv[1], IFNAMSIZ - 1);
  fail_kind("failslab");
  fail_kind("fail_page_alloc");
  put("/sys/kernel/debug/fail_page_alloc/min-order", "0");
  set_up(&request, 0);
  for (int count = 1; well < 6; ++count) {
    char nth[16], left[16] = "";
    snprintf(nth, sizeof nth, "%d", count);
    request.ifr_flags = IFF_UP;
    if (pwrite(fd, nth, strlen(nth), 0) < 0) perror("fail-nth");
    const int status = link_of(SIOCSIFFLAGS, &request);
    if (pread(fd, left, sizeof left - 1, 0) < 0 || pwrite(fd, "0", 1, 0) < 0) perror("fail-nth");
    if (left[0] != '0') printf("there is no allocation %d\n", count);
    if (link_of(SIOCGIFFLAGS, &request) < 0 || !(request.ifr_flags & IFF_UP) != (status < 0))
      printf("it is in the wrong state\n");
    refused += status < 0;
    well = status < 0 ? 0 : well + 1;
    if (status == 0) set_up(&request, 0);
  }
  printf("refused %d times\n", refused);
  return 0;
}
