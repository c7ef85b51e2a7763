// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), incremental. About 250 MB/s: a tenth of what a run spends on the same bytes
// elsewhere.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace emery {

class Sha256 {
 public:
  using Digest = std::array<std::uint8_t, 32>;
  enum class Code { kFastest, kPortable };

  explicit Sha256([[maybe_unused]] Code code = Code::kFastest) {
#if defined(__x86_64__)
    use_instructions_ = code == Code::kFastest && have_instructions();
#endif
  }

  void update(std::span<const std::uint8_t> data) {
    total_ += data.size();
    if (filled_ != 0) {
      const std::size_t n = std::min(data.size(), block_.size() - filled_);
      std::memcpy(block_.data() + filled_, data.data(), n);
      filled_ += n;
      data = data.subspan(n);
      if (filled_ < block_.size()) return;
      compress(block_.data(), 1);
      filled_ = 0;
    }
    const std::size_t blocks = data.size() / block_.size();
    if (blocks != 0) compress(data.data(), blocks);
    data = data.subspan(blocks * block_.size());
    if (data.empty()) return;
    std::memcpy(block_.data(), data.data(), data.size());
    filled_ = data.size();
  }

  /// The digest of everything so far; the object itself can go on.
  Digest digest() const {
    Sha256 end = *this;
    std::array<std::uint8_t, 72> tail{0x80};
    const std::size_t pad = (filled_ < 56 ? 56 : 120) - filled_;
    const std::uint64_t bits = total_ * 8;
    for (std::size_t i = 0; i < 8; ++i)
      tail[pad + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
    end.update({tail.data(), pad + 8});
    Digest out;
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<std::uint8_t>(end.state_[i / 4] >> (24 - 8 * (i % 4)));
    return out;
  }

  std::string hex() const {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out;
    for (const std::uint8_t b : digest()) {
      out += kHex[b >> 4];
      out += kHex[b & 15];
    }
    return out;
  }

 private:
  static constexpr std::array<std::uint32_t, 64> kRound = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
      0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
      0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
      0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
      0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
      0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
      0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
      0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
      0xc67178f2};

  void compress(const std::uint8_t* p, std::size_t blocks) {
#if defined(__x86_64__)
    if (use_instructions_) {
      compress_x86(p, blocks);
      return;
    }
#endif
    for (; blocks != 0; --blocks, p += block_.size()) compress_portable(p);
  }

#if defined(__x86_64__)
  static bool have_instructions() {
    static const bool have = [] {
      __builtin_cpu_init();
      unsigned
          a = 7,
          b = 0, c = 0,
          d = 0;  // leaf 7: SHA is bit 29 of EBX; __builtin_cpu_supports has no name for it yet
      asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
      return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3") &&
             (b >> 29 & 1) != 0;
    }();
    return have;
  }

  // The instructions keep the state as (a b e f) and (c d g h) and do two rounds each; sha256msg1
  // and msg2 extend the message by four words, needing w[i-7] from alignr.
  __attribute__((target("sha,sse4.1,ssse3"))) void compress_x86(const std::uint8_t* p,
                                                                std::size_t blocks) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const auto load = [](const void* from) __attribute__((target("sse4.1"))) {
      return _mm_loadu_si128(static_cast<const __m128i*>(from));
    };
    __m128i low = _mm_shuffle_epi32(load(&state_[0]), 0xb1);   // b a d c, highest word last
    __m128i high = _mm_shuffle_epi32(load(&state_[4]), 0x1b);  // h g f e
    __m128i abef = _mm_alignr_epi8(low, high, 8);
    __m128i cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; blocks != 0; --blocks, p += 64) {
      const __m128i abef_before = abef, cdgh_before = cdgh;
      __m128i w[4];
      for (int i = 0; i < 4; ++i) w[i] = _mm_shuffle_epi8(load(p + 16 * i), swap);
      for (std::size_t i = 0; i < 16; ++i) {
        const __m128i now = w[i % 4];
        const __m128i keyed = _mm_add_epi32(now, load(&kRound[4 * i]));
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, keyed);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(keyed, 0x0e));
        if (i >= 12) continue;
        const __m128i next = w[(i + 1) % 4], after = w[(i + 2) % 4], last = w[(i + 3) % 4];
        const __m128i sum =
            _mm_add_epi32(_mm_sha256msg1_epu32(now, next), _mm_alignr_epi8(last, after, 4));
        w[i % 4] = _mm_sha256msg2_epu32(sum, last);
      }
      abef = _mm_add_epi32(abef, abef_before);
      cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(&state_[0]), _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(&state_[4]), _mm_alignr_epi8(high, low, 8));
  }
#endif

  void compress_portable(const std::uint8_t* p) {
    std::array<std::uint32_t, 64> w;
    for (std::size_t i = 0; i < 16; ++i, p += 4)
      w[i] =
          std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
    for (std::size_t i = 16; i < 64; ++i) {
      const auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
      const auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
      const auto s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const auto t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
      const auto s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const auto t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> add = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state_[i] += add[i];
  }

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_;
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
  bool use_instructions_ = false;
};

}  // namespace emery
