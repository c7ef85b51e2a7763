// SPDX-License-Identifier: Apache-2.0
// Every tile of a 2 x 2 grid runs this; tile_router_tb has the switch programs. Ends with 0, or
// says what went wrong.
typedef unsigned int u32;

// Networks in the register file: a read waits for a word, a write for room.
static inline void st1_put(u32 x) { __asm__ volatile("mv x26, %0" ::"r"(x)); }
static inline void st2_put(u32 x) { __asm__ volatile("mv x27, %0" ::"r"(x)); }
static inline void gdn_put(u32 x) { __asm__ volatile("mv x28, %0" ::"r"(x)); }
static inline u32 st1_get(void) {
  u32 x;
  __asm__ volatile("mv %0, x26" : "=r"(x));
  return x;
}
static inline u32 st2_get(void) {
  u32 x;
  __asm__ volatile("mv %0, x27" : "=r"(x));
  return x;
}
static inline u32 gdn_get(void) {
  u32 x;
  __asm__ volatile("mv %0, x28" : "=r"(x));
  return x;
}

enum { TO_CORE, USER_INTERRUPT = 31 };
static inline u32 place(u32 x, u32 y, u32 exit) { return exit << 8 | y << 4 | x; }
static inline u32 header(u32 user, u32 from, u32 words, u32 to) {
  return user << 27 | from << 16 | words << 11 | to;
}

// The line goes back to memory and leaves the cache.
static inline void cache_drop(const volatile void* line) { *(volatile u32*)0x20000000 = (u32)line; }

enum { TILES = 4, COLS = 2, WORDS = 600 };
static volatile u32 interrupts;
static volatile u32 first_flags;

__attribute__((interrupt)) static void handler(void) {
  u32 flags;
  __asm__ volatile("csrr %0, 0x7c1" : "=r"(flags));
  if (interrupts == 0) first_flags = flags;
  __asm__ volatile("csrc 0x7c1, %0" ::"r"(flags));
  interrupts++;
}

static u32 place_of(u32 tile) { return place(tile % COLS, tile / COLS, TO_CORE); }

static u32 mix(u32 x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  return x;
}

// Words go round the grid, one way on each static network, and come back with one added by each
// tile.
static u32 ring(u32 me) {
  for (u32 i = 0; i < 50; i++) {
    u32 a = mix(me + i), b = mix(a);
    const u32 a0 = a, b0 = b;
    for (u32 hop = 0; hop < TILES; hop++) {
      st1_put(a);
      st2_put(b);
      a = st1_get() + 1;
      b = st2_get() + 1;
    }
    if (a != a0 + TILES) return 0x100 + i;
    if (b != b0 + TILES) return 0x200 + i;
  }
  return 0;
}

// Everybody sends everybody messages of all lengths; they come in order from each.
static u32 messages(u32 me) {
  u32 sum = 0, expected = 0, seen[TILES] = {0};
  for (u32 round = 0; round < 32; round++) {
    for (u32 k = 1; k <= TILES; k++) {
      const u32 to = (me + k) % TILES, words = round % 8;
      gdn_put(header(round % 31, place_of(me), words, place_of(to)));
      for (u32 i = 0; i < words; i++) gdn_put(mix(me * 1000 + i));
      const u32 h = gdn_get(), from = (h >> 20 & 15) * COLS + (h >> 16 & 15);
      if (from >= TILES || (h & 0x7ff) != place_of(me)) return 0x301;
      if (h >> 27 != seen[from] % 31 || (h >> 11 & 31) != seen[from] % 8) return 0x302;
      seen[from]++;
      for (u32 i = 0; i < (h >> 11 & 31); i++) {
        sum += gdn_get();
        expected += mix(from * 1000 + i);
      }
    }
  }
  return sum == expected ? 0 : 0x303;
}

// An array in the memory of region 4 + me % 2, larger than the cache; then everybody reads what the
// next one wrote.
static u32 memory(u32 me, u32 next) {
  volatile u32* mine = (volatile u32*)(0x40000000 + (me % 2 << 28) + (me << 16));
  volatile u32* theirs = (volatile u32*)(0x40000000 + (next % 2 << 28) + (next << 16));
  for (u32 i = 0; i < WORDS; i++) mine[i] = mix(me * WORDS + i);
  volatile unsigned char* bytes = (volatile unsigned char*)mine;
  for (u32 i = 0; i < WORDS * 4; i += 5) bytes[i] ^= 0xff;
  for (u32 i = 0; i < WORDS; i += 8) cache_drop(mine + i);
  // A word round the ring after the last line: then it is in memory.
  if (ring(me)) return 0x400;
  for (u32 i = 0; i < WORDS; i++) {
    u32 x = mix(next * WORDS + i);
    for (u32 b = 0; b < 4; b++)
      if ((4 * i + b) % 5 == 0) x ^= 0xffu << (8 * b);
    if (theirs[i] != x) return 0x401 + (i << 16);
  }
  return 0;
}

int main(void) {
  u32 me;
  __asm__ volatile("csrr %0, mhartid" : "=r"(me));
  __asm__ volatile("csrw mtvec, %0" ::"r"(handler));
  __asm__ volatile("csrw mie, %0" ::"r"(0x1f << 16));
  __asm__ volatile("csrsi mstatus, 8");
  u32 bad = ring(me);
  if (!bad) bad = messages(me);
  if (!bad) bad = memory(me, (me + 1) % TILES);
  // Everybody interrupts the next one; the last word waits for it in the middle of a read.
  if (bad) return bad;
  gdn_put(header(USER_INTERRUPT, place_of(me), 0, place_of((me + 1) % TILES)));
  while (interrupts == 0) {
  }
  if (interrupts != 1 || first_flags != 1) return 0x501;
  return 0;
}
