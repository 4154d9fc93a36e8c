// CRC-32C by the machine's own instruction, as every log needs one.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <nmmintrin.h>
#define CHECKSUM_TARGET __attribute__((target("sse4.2")))
#define CHECKSUM_STEP(sum, word) ((uint32_t)_mm_crc32_u64(sum, word))
#elif defined(__aarch64__)
#include <arm_acle.h>
#define CHECKSUM_TARGET __attribute__((target("crc")))
#define CHECKSUM_STEP(sum, word) __crc32cd(sum, word)
#else
#error "The limits know the checksum instruction of x86_64 and arm64 only."
#endif

/// The checksum of `length` bytes, a multiple of eight.
CHECKSUM_TARGET static inline uint32_t checksum(uint32_t sum, const void *bytes, size_t length) {
  const char *next = bytes;
  for (; length >= 8; length -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    sum = CHECKSUM_STEP(sum, word);
  }
  return sum;
}
