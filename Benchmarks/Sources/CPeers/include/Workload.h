/// The data of the workloads: one definition for Varve, for its peers and for the limits.
///
/// Record number i, counted from 0, has the ID i / 15 * 16 + i % 15 + 1: dense from 1 with every sixteenth left out, so
/// that what is absent lies between what is there. All randomness is splitmix64 of a seed and a counter.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/// Nanoseconds of a clock that only goes forward.
static inline uint64_t workload_nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/// A number that looks random and depends on `z` only.
static inline uint64_t workload_mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Brings a random number below `limit`.
static inline uint64_t workload_below(uint64_t random, uint64_t limit) {
  return (uint64_t)(((unsigned __int128)random * limit) >> 64);
}

/// The number of the record that step `k` of the order with this seed goes to, of `count` records.
static inline uint64_t workload_index(uint64_t seed, uint64_t k, uint64_t count) {
  return workload_below(workload_mix(seed + k), count);
}

/// The ID of a record.
static inline uint64_t workload_id(uint64_t index) { return index / 15 * 16 + index % 15 + 1; }

/// An ID that no record has.
static inline uint64_t workload_absent_id(uint64_t index) { return index * 16 + 16; }

/// Writes the value of a record: pieces of 100 bytes, each 50 random ones and then the same again; the first eight
/// bytes are the ID. `buffer` has 128 bytes more than `length`.
static inline void workload_fill(void *buffer, size_t length, uint64_t id, uint64_t version) {
  char *bytes = (char *)buffer;
  uint64_t state = workload_mix(id * 0x2545f4914f6cdd1du + version);
  for (size_t offset = 0; offset < length; offset += 100) {
    char *piece = bytes + offset;
    for (int word = 0; word < 7; word++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      uint64_t mixed = state ^ (state >> 29);
      memcpy(piece + word * 8, &mixed, 8);
    }
    if (offset == 0) memcpy(piece, &id, 8);
    size_t half = length - offset >= 100 ? 50 : (length - offset + 1) / 2;
    memcpy(piece + half, piece, half);
  }
}

/// Looks at every byte of a value and adds it to `sum`. Returns whether it is a value of this ID.
static inline bool workload_consume(uint64_t id, const void *value, size_t length, uint64_t *sum) {
  const char *bytes = (const char *)value;
  uint64_t first = 0, word, total = 0;
  size_t rest = length;
  if (length >= 8) memcpy(&first, bytes, 8);
  for (; rest >= 8; rest -= 8, bytes += 8) {
    memcpy(&word, bytes, 8);
    total += word;
  }
  if (rest > 0) {
    word = 0;
    memcpy(&word, bytes, rest);
    total += word;
  }
  *sum += total;
  return first == id;
}
