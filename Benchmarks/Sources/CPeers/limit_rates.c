// Rates of the machine alone: appending, syncing, copying, and reading through a mapping.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "Peer.h"
#include "Workload.h"
#include "checksum.h"

#define FILE_SIZE (256ull << 20)

static volatile uint64_t sink;

static void fail(const char *what) {
  fprintf(stderr, "limit: %s failed: %s\n", what, strerror(errno));
  abort();
}

static double seconds_since(uint64_t start) { return (double)(workload_nanoseconds() - start) * 1e-9; }

/// A new file without a name, `ahead` bytes of it written.
static int make_file(const peer_options *options, uint64_t ahead) {
  static char zeros[16 << 10];
  char path[4096];
  snprintf(path, sizeof path, "%s/raw", options->folder);
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (file < 0) fail("making a file");
  unlink(path);
  for (uint64_t offset = 0; offset < ahead; offset += sizeof zeros)
    if (pwrite(file, zeros, sizeof zeros, (off_t)offset) != (ssize_t)sizeof zeros) fail("writing ahead");
  if (fsync(file) != 0) fail("syncing");
  return file;
}

static uint64_t record_size(const peer_options *options) { return ((options->value_length + 7) & ~7ull) + 24; }

/// One `pwrite` a record, without a sync or with one, into a new file or into one that was written before.
static double append(const peer_options *options, double limit, bool syncs, bool grows) {
  int file = make_file(options, grows ? 0 : FILE_SIZE);
  uint64_t size = record_size(options), count = 0, most = FILE_SIZE / size;
  char *record = calloc(1, size + 128);
  uint64_t start = workload_nanoseconds();
  for (; count < most && (count % 16 != 0 || seconds_since(start) < limit); count++) {
    workload_fill(record, options->value_length, count + 1, 0);
    if (pwrite(file, record, size, (off_t)(count * size)) != (ssize_t)size) fail("writing");
    if (syncs && fdatasync(file) != 0) fail("syncing");
  }
  double rate = (double)count / seconds_since(start);
  free(record);
  close(file);
  return rate;
}

/// One copy a record into resident pages of a mapped file.
static double append_mapped(const peer_options *options) {
  int file = make_file(options, FILE_SIZE);
  uint64_t size = record_size(options), most = FILE_SIZE / size;
  char *map = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), *record = calloc(1, size + 128);
  if (map == MAP_FAILED) fail("mapping");
  for (uint64_t offset = 0; offset < FILE_SIZE; offset += 4096) map[offset] = 0;
  uint64_t start = workload_nanoseconds();
  for (uint64_t i = 0; i < most; i++) {
    workload_fill(record, options->value_length, i + 1, 0);
    memcpy(map + i * size, record, size);
  }
  double rate = (double)most / seconds_since(start);
  munmap(map, FILE_SIZE);
  free(record);
  close(file);
  return rate;
}

/// KiB a second, copied within memory.
static double copy(void) {
  uint64_t size = 128ull << 20;
  char *source = malloc(size), *target = malloc(size);
  memset(source, 1, size);
  memset(target, 2, size);
  uint64_t start = workload_nanoseconds();
  for (int i = 0; i < 8; i++) {
    source[i] = (char)i;
    memcpy(target, source, size);
    sink = (uint64_t)target[size / 2];
  }
  double rate = 8.0 * (double)size / 1024 / seconds_since(start);
  free(source);
  free(target);
  return rate;
}

/// Reads records of a mapped file at random, through an array of offsets, and compares their checksums if asked.
static double read_mapped(const peer_options *options, double limit, bool is_checked) {
  uint64_t size = record_size(options), records = options->record_count, body = size - 24;
  int file = make_file(options, 0);
  if (ftruncate(file, (off_t)(records * size)) != 0) fail("growing");
  char *map = mmap(NULL, records * size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  uint64_t *offsets = malloc(records * 8);
  char *value = calloc(1, body + 128);
  if (map == MAP_FAILED) fail("mapping");
  for (uint64_t i = 0; i < records; i++) offsets[i] = i * size;
  for (uint64_t i = records - 1; i > 0; i--) {
    uint64_t j = workload_below(workload_mix(i), i + 1), other = offsets[i];
    offsets[i] = offsets[j];
    offsets[j] = other;
  }
  for (uint64_t i = 0; i < records; i++) {
    workload_fill(value, options->value_length, i, 0);
    uint32_t sum = checksum(0, value, body);
    memcpy(map + offsets[i], &sum, 4);
    memcpy(map + offsets[i] + 24, value, body);
  }
  uint64_t sum = 0, wrong = 0, count = 0, start = workload_nanoseconds();
  for (; count % 1024 != 0 || seconds_since(start) < limit; count++) {
    uint64_t i = workload_index(1ull << 40, count, records);
    const char *record = map + offsets[i];
    uint32_t expected;
    memcpy(&expected, record, 4);
    if (is_checked) wrong += checksum(0, record + 24, body) != expected;
    wrong += !workload_consume(i, record + 24, options->value_length, &sum);
  }
  double rate = (double)count / seconds_since(start);
  if (wrong > 0) fail("reading back");
  sink = sum;
  munmap(map, records * size);
  free(offsets);
  free(value);
  close(file);
  return rate;
}

double limit_rate(const char *name, const peer_options *options, double seconds) {
  if (strcmp(name, "raw_append") == 0) return append(options, seconds, false, false);
  if (strcmp(name, "raw_append_mapped") == 0) return append_mapped(options);
  if (strcmp(name, "raw_sync") == 0) return append(options, seconds, true, false);
  if (strcmp(name, "raw_sync_growing") == 0) return append(options, seconds, true, true);
  if (strcmp(name, "raw_copy") == 0) return copy();
  if (strcmp(name, "raw_read") == 0) return read_mapped(options, seconds, false);
  if (strcmp(name, "raw_read_checked") == 0) return read_mapped(options, seconds, true);
  return 0;
}
