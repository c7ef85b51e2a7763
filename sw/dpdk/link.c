/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator as the machine of the driver core (emnic.h): registers over its socket, memory that
 * it has mapped, time that goes by when it is asked for. When it is gone, reads give all ones, as
 * of a card that was pulled out.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_memory.h>

#include "net_emery.h"

enum { PAGE = 4096 };

static void give_up(struct emery_link *link) {
  if (!link->gone) EMERY_LOG(ERR, "the simulator has gone: the link is down");
  link->gone = 1;
}

static int send_all(struct emery_link *link, const struct sim_message *message, int file) {
  union {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec part = {(void *)(uintptr_t)message, sizeof *message};
  struct msghdr out = {.msg_iov = &part, .msg_iovlen = 1};
  if (file >= 0) {
    memset(&control, 0, sizeof control);
    out.msg_control = control.bytes;
    out.msg_controllen = sizeof control.bytes;
    struct cmsghdr *head = CMSG_FIRSTHDR(&out);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(head), &file, sizeof file);
  }
  while (part.iov_len != 0) {
    const ssize_t sent = sendmsg(link->socket, &out, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return -1;
    part.iov_base = (char *)part.iov_base + sent;
    part.iov_len -= (size_t)sent;
    out.msg_control = NULL;
    out.msg_controllen = 0;
  }
  return 0;
}

static int receive_all(struct emery_link *link, struct sim_message *message) {
  for (size_t done = 0; done < sizeof *message;) {
    const ssize_t got = recv(link->socket, (char *)message + done, sizeof *message - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;
    done += (size_t)got;
  }
  return 0;
}

static void tell(struct emery_link *link, enum sim_op op, uint64_t at, uint64_t value) {
  const struct sim_message message = {op, 0, at, value};
  rte_spinlock_lock(&link->lock);
  if (!link->gone && send_all(link, &message, -1) != 0) give_up(link);
  rte_spinlock_unlock(&link->lock);
}

/* Negative, and `answer` all ones, when the simulator has gone. */
static int ask(struct emery_link *link, enum sim_op op, uint64_t at, uint64_t value, int file,
               struct sim_message *answer) {
  const struct sim_message message = {op, 0, at, value};
  memset(answer, 0xff, sizeof *answer);
  rte_spinlock_lock(&link->lock);
  if (!link->gone && (send_all(link, &message, file) != 0 || receive_all(link, answer) != 0 ||
                      answer->op != (uint32_t)op)) {
    memset(answer, 0xff, sizeof *answer);
    give_up(link);
  }
  rte_spinlock_unlock(&link->lock);
  return link->gone ? -EIO : 0;
}

static void pass(struct emery_link *link, enum sim_op op, uint64_t ns) {
  struct sim_message answer;
  if (ask(link, op, 0, ns, -1, &answer) != 0) return;
  link->now = answer.at;
  link->ends = answer.value == SIM_ENDS;
}

void emery_link_poll(struct emery_link *link) {
  const uint64_t ns = link->owed + link->costs.poll;
  link->owed = 0;
  pass(link, SIM_POLL, ns);
}

void emery_link_settle(struct emery_link *link) {
  const uint64_t ns = link->owed;
  link->owed = 0;
  if (ns != 0) pass(link, SIM_PASS, ns);
}

/* ---- memory: what DPDK has is one file, which the simulator maps */

struct share {
  struct emery_link *link;
  unsigned int files;
};

static int share_list(const struct rte_memseg_list *list, void *of) {
  struct share *share = of;
  struct sim_message answer;
  const struct rte_memseg *first = rte_fbarray_get(&list->memseg_arr, 0);
  size_t offset = 0;
  if (list->external) return 0;
  const int file = first ? rte_memseg_get_fd_thread_unsafe(first) : -1;
  if (file < 0 || rte_memseg_get_fd_offset_thread_unsafe(first, &offset) != 0 || offset != 0)
    return -1;
  ++share->files;
  if (ask(share->link, SIM_MEMORY, (uintptr_t)list->base_va, list->len, file, &answer) != 0)
    return -1;
  return answer.value == 1 ? 0 : -1;
}

static int share_memory(struct emery_link *link) {
  struct share share = {link, 0};
  if (rte_eal_has_hugepages() || rte_eal_iova_mode() != RTE_IOVA_VA) {
    EMERY_LOG(ERR, "the simulator shares memory that is one file: start with --no-huge");
    return -ENOTSUP;
  }
  if (rte_memseg_list_walk_thread_unsafe(share_list, &share) != 0 || share.files != 1) {
    EMERY_LOG(ERR, "the simulator cannot map this memory: start with --no-huge, and without --base-virtaddr");
    return -ENOMEM;
  }
  return 0;
}

int emery_link_open(struct emery_link *link, const char *path) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  struct sim_message answer;
  rte_spinlock_init(&link->lock);
  if (strlen(path) >= sizeof name.sun_path) {
    EMERY_LOG(ERR, "socket=%s: too long a name", path);
    return -ENAMETOOLONG;
  }
  strcpy(name.sun_path, path);
  link->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (link->socket < 0 || connect(link->socket, (struct sockaddr *)&name, sizeof name) != 0) {
    const int error = errno;
    EMERY_LOG(ERR, "socket=%s: %s", path, strerror(error));
    if (link->socket >= 0) close(link->socket);
    return -error;
  }
  int status = ask(link, SIM_HELLO, 0, SIM_LINK_VERSION, -1, &answer);
  if (status == 0) {
    link->address = answer.value;
    link->bits_per_second = answer.at;
    status = share_memory(link);
  }
  if (status != 0) emery_link_close(link);
  return status;
}

void emery_link_close(struct emery_link *link) {
  if (link->socket >= 0) close(link->socket);
  link->socket = -1;
  link->gone = 1;
}

/* ---- emnic_ops */

static uint32_t machine_read32(void *context, uint32_t offset) {
  struct sim_message answer;
  emery_link_settle(context);
  ask(context, SIM_READ32, offset, 0, -1, &answer);
  return (uint32_t)answer.value;
}

static void machine_write32(void *context, uint32_t offset, uint32_t value) {
  struct emery_link *link = context;
  emery_link_settle(link);
  tell(link, SIM_WRITE32, offset, value);
  emery_owe(link, link->costs.mmio);
}

static void *machine_alloc(void *context, size_t bytes) {
  (void)context;
  return rte_zmalloc("emnic", bytes, 0);
}

static void machine_free(void *context, void *memory) {
  (void)context;
  rte_free(memory);
}

static void *machine_dma_alloc(void *context, size_t bytes, uint64_t *bus) {
  (void)context;
  void *memory = rte_zmalloc("emnic_dma", RTE_ALIGN_CEIL(bytes, PAGE), PAGE);
  *bus = memory ? rte_malloc_virt2iova(memory) : 0;
  return memory;
}

static void machine_dma_free(void *context, void *memory, size_t bytes, uint64_t bus) {
  (void)context;
  (void)bytes;
  (void)bus;
  rte_free(memory);
}

static void machine_bus_master(void *context, int on) {
  struct sim_message answer;
  ask(context, SIM_MASTER, 0, on != 0, -1, &answer);
}

/* Asked for when the port has receive interrupts; otherwise queues are polled. */
static int machine_interrupts(void *context, unsigned int vectors) {
  struct emery_link *link = context;
  struct sim_message answer;
  if (!link->vectors && !link->interrupts) return 0;
  if (ask(link, SIM_VECTORS, 0, link->interrupts ? vectors : 0, -1, &answer) != 0) return -EIO;
  link->vectors = link->interrupts && vectors != 0;
  return answer.value == 1 ? 0 : -ENOTSUP;
}

int emery_link_event(struct emery_link *link, uint16_t queue, unsigned int vector, int file) {
  struct sim_message answer;
  if (ask(link, SIM_EVENT, queue, vector, file, &answer) != 0) return -EIO;
  return answer.value == 1 ? 0 : -EINVAL;
}

void emery_link_wait(struct emery_link *link, uint16_t queue, enum sim_wait how) {
  tell(link, SIM_WAIT, queue, (uint64_t)how);
}

static void machine_delay_us(void *context, unsigned int us) {
  emery_owe(context, 1000 * us);
  emery_link_settle(context);
}

struct emnic_ops emery_machine(struct emery_link *link) {
  return (struct emnic_ops){
      .context = link,
      .read32 = machine_read32,
      .write32 = machine_write32,
      .alloc = machine_alloc,
      .free = machine_free,
      .dma_alloc = machine_dma_alloc,
      .dma_free = machine_dma_free,
      .bus_master = machine_bus_master,
      .interrupts = machine_interrupts,
      .delay_us = machine_delay_us,
  };
}
