// CRC-32C by instruction, three streams at a time, with a portable way beside it.
//
// The instruction takes eight bytes each cycle but answers only after three, so one stream alone reaches a third of
// the speed. Long buffers are therefore cut into three blocks of equal length which are summed side by side; the sum
// of two neighbours is the first one's carried over the length of the second ("shift": a multiplication by a power of
// x, which is linear, so four tables of 256 words do it) exclusive-or the second's.

#include "CVarve.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define VARVE_HARDWARE __attribute__((target("sse4.2")))
#elif defined(__aarch64__)
#include <arm_acle.h>
#if defined(__ARM_FEATURE_CRC32)
#define VARVE_HARDWARE
#else
#define VARVE_HARDWARE __attribute__((target("crc")))
#include <sys/auxv.h>
#endif
#endif

/// The polynomial 0x1EDC6F41 with its bits reversed.
static const uint32_t polynomial = 0x82F63B78;

/// Block lengths of the three streams, multiples of eight: large for throughput, small for what remains, tiny for
/// records.
enum { block_large = 4096, block_small = 256, block_tiny = 64 };

static pthread_once_t tables_once = PTHREAD_ONCE_INIT;
/// `slices[k][b]`: the sum of byte `b` followed by `k` zero bytes.
static uint32_t slices[8][256];

#if defined(VARVE_HARDWARE)
/// `shift[k][b]`: what byte `k` of a sum becomes after a block of zero bytes.
static uint32_t shift_large[4][256];
static uint32_t shift_small[4][256];
static uint32_t shift_tiny[4][256];

/// Carries one sum over `length` zero bytes, byte by byte.
static uint32_t carry(uint32_t sum, size_t length) {
  for (size_t i = 0; i < length; i++) sum = (sum >> 8) ^ slices[0][sum & 0xFF];
  return sum;
}

static void make_shift(uint32_t shift[4][256], size_t length) {
  uint32_t of_bit[32];
  for (int bit = 0; bit < 32; bit++) of_bit[bit] = carry((uint32_t)1 << bit, length);
  for (int k = 0; k < 4; k++) {
    for (int byte = 0; byte < 256; byte++) {
      uint32_t sum = 0;
      for (int bit = 0; bit < 8; bit++) {
        if (byte >> bit & 1) sum ^= of_bit[8 * k + bit];
      }
      shift[k][byte] = sum;
    }
  }
}
#endif

static void make_tables(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >> 1) ^ polynomial : sum >> 1;
    slices[0][byte] = sum;
  }
  for (int k = 1; k < 8; k++) {
    for (int byte = 0; byte < 256; byte++) {
      uint32_t before = slices[k - 1][byte];
      slices[k][byte] = (before >> 8) ^ slices[0][before & 0xFF];
    }
  }
#if defined(VARVE_HARDWARE)
  make_shift(shift_large, block_large);
  make_shift(shift_small, block_small);
  make_shift(shift_tiny, block_tiny);
#endif
}

/// Loads eight bytes as a little-endian number from any address.
static inline uint64_t load_word(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

/// Loads four bytes as a little-endian number from any address.
static inline uint32_t load_half_word(const uint8_t *bytes) {
  uint32_t word;
  memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap32(word);
#endif
  return word;
}

uint32_t varve_crc32c_portable(uint32_t seed, const void *bytes, size_t length) {
  pthread_once(&tables_once, make_tables);
  const uint8_t *next = bytes;
  uint32_t sum = ~seed;
  for (; length >= 8; length -= 8, next += 8) {
    uint64_t word = load_word(next) ^ sum;
    sum = slices[7][word & 0xFF] ^ slices[6][word >> 8 & 0xFF] ^ slices[5][word >> 16 & 0xFF] ^
          slices[4][word >> 24 & 0xFF] ^ slices[3][word >> 32 & 0xFF] ^ slices[2][word >> 40 & 0xFF] ^
          slices[1][word >> 48 & 0xFF] ^ slices[0][word >> 56];
  }
  for (; length > 0; length--, next++) sum = (sum >> 8) ^ slices[0][(sum ^ *next) & 0xFF];
  return ~sum;
}

#if defined(VARVE_HARDWARE)

#if defined(__x86_64__)
#define ADD_WORD(sum, word) ((uint32_t)_mm_crc32_u64((sum), (word)))
#define ADD_HALF_WORD(sum, word) (_mm_crc32_u32((sum), (word)))
#define ADD_BYTE(sum, byte) (_mm_crc32_u8((sum), (byte)))
#else
#define ADD_WORD(sum, word) (__crc32cd((sum), (word)))
#define ADD_HALF_WORD(sum, word) (__crc32cw((sum), (word)))
#define ADD_BYTE(sum, byte) (__crc32cb((sum), (byte)))
#endif

static inline uint32_t shifted(const uint32_t shift[4][256], uint32_t sum) {
  return shift[0][sum & 0xFF] ^ shift[1][sum >> 8 & 0xFF] ^ shift[2][sum >> 16 & 0xFF] ^ shift[3][sum >> 24];
}

/// Sums three blocks side by side.
VARVE_HARDWARE
static inline uint32_t add_blocks(
    uint32_t sum, const uint8_t *bytes, size_t block, const uint32_t shift[4][256]) {
  uint32_t second = 0;
  uint32_t third = 0;
  for (size_t i = 0; i < block; i += 8) {
    sum = ADD_WORD(sum, load_word(bytes + i));
    second = ADD_WORD(second, load_word(bytes + block + i));
    third = ADD_WORD(third, load_word(bytes + 2 * block + i));
  }
  return shifted(shift, shifted(shift, sum) ^ second) ^ third;
}

VARVE_HARDWARE
static uint32_t crc32c_hardware(uint32_t seed, const void *bytes, size_t length) {
  const uint8_t *next = bytes;
  uint32_t sum = ~seed;
  for (; length >= 3 * block_large; length -= 3 * block_large, next += 3 * block_large)
    sum = add_blocks(sum, next, block_large, shift_large);
  for (; length >= 3 * block_small; length -= 3 * block_small, next += 3 * block_small)
    sum = add_blocks(sum, next, block_small, shift_small);
  for (; length >= 3 * block_tiny; length -= 3 * block_tiny, next += 3 * block_tiny)
    sum = add_blocks(sum, next, block_tiny, shift_tiny);
  for (; length >= 8; length -= 8, next += 8) sum = ADD_WORD(sum, load_word(next));
  if (length >= 4) {
    sum = ADD_HALF_WORD(sum, load_half_word(next));
    length -= 4;
    next += 4;
  }
  for (; length > 0; length--, next++) sum = ADD_BYTE(sum, *next);
  return ~sum;
}

bool varve_crc32c_uses_hardware(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2");
#elif defined(__ARM_FEATURE_CRC32)
  return true;
#else
  return (getauxval(AT_HWCAP) & (1 << 7)) != 0;  // HWCAP_CRC32
#endif
}

#else

bool varve_crc32c_uses_hardware(void) { return false; }

#endif

uint32_t varve_crc32c(uint32_t seed, const void *bytes, size_t length) {
#if defined(VARVE_HARDWARE)
  // 0: not asked yet, 1: yes, 2: no. Threads that ask at the same time get the same answer.
  static int answer = 0;
  int known = __atomic_load_n(&answer, __ATOMIC_ACQUIRE);
  if (known == 0) {
    pthread_once(&tables_once, make_tables);
    known = varve_crc32c_uses_hardware() ? 1 : 2;
    __atomic_store_n(&answer, known, __ATOMIC_RELEASE);
  }
  if (known == 1) return crc32c_hardware(seed, bytes, length);
#endif
  return varve_crc32c_portable(seed, bytes, length);
}
