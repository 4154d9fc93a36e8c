// The least that a log-structured engine does, behind the interface of an engine: a packed log in a mapped file that is
// written ahead, and an array of offsets. No snapshots, no transactions, no compaction, one mutex for writers, a sync
// that whoever comes first does for all. What it reaches here is what a real engine cannot pass.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "Peer.h"
#include "Workload.h"
#include "checksum.h"

#define LOG_SIZE_MAX (64ull << 30)
#define ID_MAX (1ull << 28)
#define GROWTH (64ull << 20)
// Writing ahead in small calls keeps the kernel from making large folios, of which each sync would write all.
#define AHEAD_STEP (16ull << 10)

struct header {
  uint32_t checksum, length;
  uint64_t id, sequence;
};

struct engine {
  int file;
  char *log;
  uint64_t *offsets;
  uint64_t end, ahead, sequence, id_end;
  pthread_mutex_t mutex;
  pthread_cond_t synced;
  uint64_t synced_end;
  bool is_syncing;
};

struct session {
  struct engine *engine;
  bool is_durable;
};

static void fail(const char *what) {
  fprintf(stderr, "limit: %s failed: %s\n", what, strerror(errno));
  abort();
}

static uint64_t rounded(uint64_t length) { return (length + 7) & ~7ull; }

/// Writes zeros so that `length` bytes from the start may be stored to.
static void write_ahead(struct engine *engine, uint64_t length) {
  static char zeros[AHEAD_STEP];
  for (; engine->ahead < length; engine->ahead += AHEAD_STEP)
    if (pwrite(engine->file, zeros, AHEAD_STEP, (off_t)engine->ahead) != (ssize_t)AHEAD_STEP) fail("writing ahead");
}

/// Reads the log up to its first empty record.
static void replay(struct engine *engine) {
  struct header header;
  while (engine->end + sizeof header < engine->ahead) {
    memcpy(&header, engine->log + engine->end, sizeof header);
    if (header.id == 0 || header.id >= ID_MAX) break;
    const char *body = engine->log + engine->end + sizeof header;
    if (checksum(0, body, rounded(header.length)) != header.checksum) break;
    engine->offsets[header.id] = header.length == 0 ? 0 : engine->end;
    if (header.id >= engine->id_end) engine->id_end = header.id + 1;
    engine->sequence = header.sequence;
    engine->end += sizeof header + rounded(header.length);
  }
}

static void *open_engine(const peer_options *options) {
  struct engine *engine = calloc(1, sizeof *engine);
  char path[4096];
  snprintf(path, sizeof path, "%s/log", options->folder);
  engine->file = open(path, O_RDWR | O_CREAT, 0644);
  if (engine->file < 0) fail("opening");
  engine->ahead = (uint64_t)lseek(engine->file, 0, SEEK_END);
  engine->log = mmap(NULL, LOG_SIZE_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, engine->file, 0);
  engine->offsets = mmap(
      NULL, ID_MAX * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (engine->log == MAP_FAILED || engine->offsets == MAP_FAILED) fail("mapping");
  pthread_mutex_init(&engine->mutex, NULL);
  pthread_cond_init(&engine->synced, NULL);
  engine->end = 8;
  replay(engine);
  uint64_t room = options->record_count * (rounded(options->value_length) + sizeof(struct header)) * 2;
  if (engine->ahead == 0) {
    write_ahead(engine, room + GROWTH);
    madvise(engine->log, engine->ahead, MADV_POPULATE_WRITE);
    fdatasync(engine->file);
  }
  return engine;
}

static void close_engine(void *object) {
  struct engine *engine = object;
  fdatasync(engine->file);
  munmap(engine->log, LOG_SIZE_MAX);
  munmap(engine->offsets, ID_MAX * 8);
  close(engine->file);
  free(engine);
}

static void do_nothing(void *object) { (void)object; }

static void *begin_session(void *object, bool is_durable) {
  struct session *session = calloc(1, sizeof *session);
  session->engine = object;
  session->is_durable = is_durable;
  return session;
}

static void begin(void *object, size_t count) {
  (void)count;
  pthread_mutex_lock(&((struct session *)object)->engine->mutex);
}

static void put(void *object, uint64_t id, const void *value, size_t length, bool is_appending) {
  (void)is_appending;
  struct engine *engine = ((struct session *)object)->engine;
  uint64_t whole = sizeof(struct header) + rounded(length);
  if (id >= ID_MAX || engine->end + whole > LOG_SIZE_MAX) fail("finding room");
  if (engine->end + whole + sizeof(struct header) > engine->ahead) write_ahead(engine, engine->ahead + GROWTH);
  char *place = engine->log + engine->end;
  memcpy(place + sizeof(struct header), value, length);
  struct header header = {0, (uint32_t)length, id, ++engine->sequence};
  header.checksum = checksum(0, place + sizeof header, rounded(length));
  memcpy(place, &header, sizeof header);
  __atomic_store_n(&engine->offsets[id], length == 0 ? 0 : engine->end, __ATOMIC_RELEASE);
  if (id >= engine->id_end) engine->id_end = id + 1;
  engine->end += whole;
}

static void remove_record(void *object, uint64_t id) { put(object, id, NULL, 0, false); }

static void commit(void *object) {
  struct session *session = object;
  struct engine *engine = session->engine;
  uint64_t mine = engine->end;
  while (session->is_durable && engine->synced_end < mine) {
    if (engine->is_syncing) {
      pthread_cond_wait(&engine->synced, &engine->mutex);
      continue;
    }
    uint64_t end = engine->end;
    engine->is_syncing = true;
    pthread_mutex_unlock(&engine->mutex);
    if (fdatasync(engine->file) != 0) fail("syncing");
    pthread_mutex_lock(&engine->mutex);
    engine->is_syncing = false;
    engine->synced_end = end;
    pthread_cond_broadcast(&engine->synced);
  }
  pthread_mutex_unlock(&engine->mutex);
}

static bool consume_at(struct engine *engine, uint64_t id, uint64_t offset, uint64_t *sum) {
  struct header header;
  memcpy(&header, engine->log + offset, sizeof header);
  return workload_consume(id, engine->log + offset + sizeof header, header.length, sum);
}

static bool get(void *object, uint64_t id, uint64_t *sum) {
  struct engine *engine = ((struct session *)object)->engine;
  uint64_t offset = __atomic_load_n(&engine->offsets[id], __ATOMIC_ACQUIRE);
  return offset != 0 && consume_at(engine, id, offset, sum);
}

/// Looks up and prefetches all before it touches the first.
static size_t get_many(void *object, const uint64_t *ids, size_t count, uint64_t *sum) {
  struct engine *engine = ((struct session *)object)->engine;
  uint64_t offsets[16];
  size_t found = 0;
  if (count > 16) fail("reading more than 16");
  for (size_t i = 0; i < count; i++) __builtin_prefetch(&engine->offsets[ids[i]]);
  for (size_t i = 0; i < count; i++) {
    offsets[i] = __atomic_load_n(&engine->offsets[ids[i]], __ATOMIC_ACQUIRE);
    for (uint64_t line = 0; line < 256; line += 64) __builtin_prefetch(engine->log + offsets[i] + line);
  }
  for (size_t i = 0; i < count; i++) found += offsets[i] != 0 && consume_at(engine, ids[i], offsets[i], sum);
  return found;
}

static uint64_t scan(void *object, uint64_t *sum) {
  struct engine *engine = ((struct session *)object)->engine;
  uint64_t found = 0;
  for (uint64_t id = 1; id < engine->id_end; id++) {
    uint64_t next = id + 8 < engine->id_end ? engine->offsets[id + 8] : 0;
    for (uint64_t line = 0; line < 256; line += 64) __builtin_prefetch(engine->log + next + line);
    uint64_t offset = engine->offsets[id];
    if (offset != 0) found += consume_at(engine, id, offset, sum);
  }
  return found;
}

static const char *engine_version(void) { return "1"; }

const peer_interface *limit_interface(void) {
  static const peer_interface table = {
      PEER_INTERFACE_VERSION, engine_version, open_engine, close_engine, do_nothing, do_nothing, do_nothing,
      begin_session, free, begin, put, remove_record, commit, get, get_many, do_nothing, do_nothing, scan,
  };
  return &table;
}
