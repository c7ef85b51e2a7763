// SPDX-License-Identifier: Apache-2.0
// A key-value store that answers from the card: memcached's text protocol over UDP (get, set,
// delete; one datagram each way), port 11211. Variant `store`, otherwise as `echo`; an example of
// firmware that answers requests.
//
// Items live in the scratchpad: keys of up to 32 bytes, values of up to 128, 64 of them in sets of
// four; a fifth of its set takes the place of the one stored longest ago. They never expire:
// another exptime than 0 is refused. A datagram whose checksum is wrong, or that is no request of
// one datagram, is not answered (and counted as dropped); answers have no checksum.
#include "store.h"

#define NOINLINE __attribute__((noinline))  // each has an item on the stack, of 512 bytes

enum { PORT = 0xcb2b };  // 11211, as its half is loaded
enum { UDP_AT = 34, UDP_BYTES = 8, LEAD_BYTES = 8, TEXT_AT = UDP_AT + UDP_BYTES + LEAD_BYTES };
enum { ONE_OF_ONE = 0x0100, KEY = 32, VALUE = 128, WAYS = 4, SETS = 16, NOWHERE = SETS * WAYS };

struct Item {
  uint32_t flags;
  uint8_t key[KEY], value[VALUE];
  uint32_t key_bytes, value_bytes;
};

// By set; what has never been stored is not read, so that nothing need be cleared at the start.
static struct Item items[SETS * WAYS] __attribute__((section(".noinit")));
static uint32_t stored[SETS * WAYS];  // when each was; 0: it is free
static uint32_t turns;
static shared_t store_lock;  // of all that

// The text of a request, read on from where it is; the frame memory is far, so a word is loaded once.
struct Text {
  shared_t* frame;
  uint32_t at, end;
  uint32_t place, word;
};

// 0 beyond the end, which is in no word of a request.
static uint32_t peek(struct Text* text) {
  if (text->at >= text->end) return 0;
  if (text->place != text->at / 4) {
    text->place = text->at / 4;
    text->word = text->frame[text->place];
  }
  return text->word >> 8 * (text->at % 4) & 0xff;
}

static bool skip(struct Text* text, const char* what) {
  for (; *what != 0; what++, text->at++)
    if (peek(text) != (uint8_t)*what) return false;
  return true;
}

// Whether the request begins so; the text goes on behind that.
static bool command(struct Text* text, const char* name) {
  text->at = TEXT_AT;
  return skip(text, name);
}

// A word of printing characters. Its length; 0: none, or a longer one.
static uint32_t take_key(struct Text* text, uint8_t* key) {
  uint32_t bytes = 0;
  for (; peek(text) > ' ' && peek(text) != 0x7f; text->at++) {
    if (bytes == KEY) return 0;
    key[bytes++] = (uint8_t)peek(text);
  }
  return bytes;
}

static bool take_number(struct Text* text, uint32_t* number) {
  const uint32_t from = text->at;
  uint32_t value = 0;
  for (; peek(text) >= '0' && peek(text) <= '9'; text->at++) {
    const uint32_t digit = peek(text) - '0';
    if (value > (UINT32_MAX - digit) / 10) return false;
    value = 10 * value + digit;
  }
  *number = value;
  return text->at != from;
}

// What goes into the slot, a word at a time; its first two bytes stand in the header's last word.
struct Answer {
  shared_t* frame;
  uint32_t at, word;
};

static void put(struct Answer* answer, uint32_t byte) {
  answer->word |= byte << 8 * (answer->at % 4);
  if (++answer->at % 4 != 0) return;
  answer->frame[answer->at / 4 - 1] = answer->word;
  answer->word = 0;
}

static void say(struct Answer* answer, const char* what) {
  while (*what != 0) put(answer, (uint8_t)*what++);
}

static void put_bytes(struct Answer* answer, const uint8_t* from, uint32_t count) {
  while (count-- != 0) put(answer, *from++);
}

static void put_number(struct Answer* answer, uint32_t number) {
  uint32_t place = 1;
  while (number / place >= 10) place *= 10;
  for (; place != 0; place /= 10) put(answer, '0' + number / place % 10);
}

static uint32_t set_of(const uint8_t* key, uint32_t bytes) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (uint32_t i = 0; i < bytes; i++) hash = (hash ^ key[i]) * 16777619u;
  return (hash ^ hash >> 16) % SETS * WAYS;
}

static bool same(const uint8_t* a, const uint8_t* b, uint32_t bytes) {
  while (bytes != 0 && *a == *b) a++, b++, bytes--;
  return bytes == 0;
}

// Its place; NOWHERE without one.
static uint32_t find(const uint8_t* key, uint32_t bytes) {
  const uint32_t set = set_of(key, bytes);
  for (uint32_t at = set; at != set + WAYS; at++) {
    const struct Item* item = &items[at];
    if (stored[at] != 0 && item->key_bytes == bytes && same(item->key, key, bytes)) return at;
  }
  return NOWHERE;
}

// The place of a new item: a free one, or that of the one stored longest ago.
static uint32_t place_of(const uint8_t* key, uint32_t bytes) {
  const uint32_t set = set_of(key, bytes);
  uint32_t oldest = set;
  for (uint32_t at = set; at != set + WAYS; at++)
    if (stored[at] < stored[oldest]) oldest = at;
  return oldest;
}

// No library has a memcpy() here.
static void copy(struct Item* to, const struct Item* from) {
  shared_t* target = (shared_t*)to;
  const shared_t* source = (const shared_t*)from;
  for (uint32_t i = 0; i < sizeof *to / sizeof *target; i++) target[i] = source[i];
}

// What get and delete take: one key and the end. Its length; 0: something else, and that is said.
static uint32_t take_only_key(struct Text* text, struct Answer* answer, uint8_t* key) {
  const uint32_t bytes = take_key(text, key);
  if (bytes != 0 && skip(text, "\r\n") && text->at == text->end) return bytes;
  say(answer, "ERROR\r\n");
  return 0;
}

static NOINLINE void get(struct Text* text, struct Answer* answer) {
  struct Item found;
  uint8_t key[KEY];
  const uint32_t bytes = take_only_key(text, answer, key);
  if (bytes == 0) return;
  take_lock(&store_lock);
  const uint32_t at = find(key, bytes);
  if (at != NOWHERE) copy(&found, &items[at]);
  leave_lock(&store_lock);
  if (at != NOWHERE) {
    say(answer, "VALUE ");
    put_bytes(answer, key, bytes);
    put(answer, ' ');
    put_number(answer, found.flags);
    put(answer, ' ');
    put_number(answer, found.value_bytes);
    say(answer, "\r\n");
    put_bytes(answer, found.value, found.value_bytes);
    say(answer, "\r\n");
  }
  say(answer, "END\r\n");
}

static NOINLINE void set(struct Text* text, struct Answer* answer) {
  struct Item new;
  uint32_t expires, bytes;
  new.key_bytes = take_key(text, new.key);
  const bool whole = new.key_bytes != 0 && skip(text, " ") && take_number(text, &new.flags) &&
                     skip(text, " ") && take_number(text, &expires) && skip(text, " ") &&
                     take_number(text, &bytes) && skip(text, "\r\n");
  if (!whole) {
    say(answer, "ERROR\r\n");
    return;
  }
  if (expires != 0) {
    say(answer, "SERVER_ERROR items do not expire\r\n");
    return;
  }
  if (bytes > VALUE) {
    say(answer, "SERVER_ERROR object too large for cache\r\n");
    return;
  }
  for (uint32_t i = 0; i < bytes; i++, text->at++) new.value[i] = (uint8_t)peek(text);
  if (!skip(text, "\r\n") || text->at != text->end) {
    say(answer, "CLIENT_ERROR bad data chunk\r\n");
    return;
  }
  new.value_bytes = bytes;
  take_lock(&store_lock);
  uint32_t at = find(new.key, new.key_bytes);
  if (at == NOWHERE) at = place_of(new.key, new.key_bytes);
  copy(&items[at], &new);
  stored[at] = ++turns;
  leave_lock(&store_lock);
  say(answer, "STORED\r\n");
}

static NOINLINE void delete(struct Text* text, struct Answer* answer) {
  uint8_t key[KEY];
  const uint32_t bytes = take_only_key(text, answer, key);
  if (bytes == 0) return;
  take_lock(&store_lock);
  const uint32_t at = find(key, bytes);
  if (at != NOWHERE) stored[at] = 0;
  leave_lock(&store_lock);
  say(answer, at != NOWHERE ? "DELETED\r\n" : "NOT_FOUND\r\n");
}

// The sum of header, pseudo-header and data is all ones, or the sender has made none.
static bool sum_is_right(shared_t* frame, uint32_t bytes) {
  if (low(frame[10]) == 0) return true;
  const uint32_t from = frame[6], middle = frame[7], last = frame[8];
  uint32_t sum = high(from) + halves(middle) + low(last) + swapped(UDP) + swapped(bytes);
  const uint32_t end = UDP_AT + bytes;
  sum += high(last);
  uint32_t at = UDP_AT + 2;
  for (; at + 4 <= end; at += 4) sum += halves(frame[at / 4]);
  const uint32_t rest = end - at;
  if (rest != 0) sum += halves(frame[at / 4] & ((1u << 8 * rest) - 1));
  return folded(sum) == 0xffff;
}

uint32_t answer_udp(shared_t* frame, uint32_t payload) {
  const uint32_t ports = frame[8], named = frame[9], count = frame[11];
  const uint32_t bytes = swapped(high(named));
  if (low(named) != PORT || bytes > payload || bytes < UDP_BYTES + LEAD_BYTES) return 0;
  if (low(count) != 0 || high(count) != ONE_OF_ONE || !sum_is_right(frame, bytes)) return 0;
  struct Text text = {frame, TEXT_AT, UDP_AT + bytes, 0, 0};
  struct Answer answer = {frame, TEXT_AT, 0};
  if (command(&text, "get ")) {
    get(&text, &answer);
  } else if (command(&text, "set ")) {
    set(&text, &answer);
  } else if (command(&text, "delete ")) {
    delete(&text, &answer);
  } else {
    say(&answer, "ERROR\r\n");
  }
  if (answer.at % 4 != 0) frame[answer.at / 4] = answer.word;
  const uint32_t length = answer.at - UDP_AT;
  frame[9] = join(high(ports), swapped(length));
  frame[10] = join(0, high(frame[10]));
  return answer_ip(frame, length, PORT);
}
