// LevelDB: Snappy, a write buffer of 64 MiB, Bloom filters of ten bits, an LRU cache, files of 8 MiB. Without
// durability the log is written to the system and not synced.
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>
#include <unistd.h>

#include <memory>

#include "peer.hpp"

namespace {

void check(const leveldb::Status &status, const char *what) {
  if (!status.ok()) peer::fail("leveldb", what, status.ToString());
}

leveldb::Slice slice(const uint64_t &key) { return leveldb::Slice(reinterpret_cast<const char *>(&key), 8); }

struct Engine {
  leveldb::DB *database = nullptr;
  leveldb::Options options;

  static const char *version() {
    static const std::string text =
        std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion);
    return text.c_str();
  }

  void open(const peer_options &settings) {
    options.create_if_missing = true;
    options.write_buffer_size = 64 << 20;
    options.max_file_size = 8 << 20;
    options.compression = leveldb::kSnappyCompression;
    options.block_cache = leveldb::NewLRUCache(settings.cache_bytes);
    options.filter_policy = leveldb::NewBloomFilterPolicy(10);
    check(leveldb::DB::Open(options, settings.folder, &database), "opening");
  }

  void close() {
    delete database;
    delete options.block_cache;
    delete options.filter_policy;
  }

  void maintain() {}
  /// There is no call that waits for its compactions.
  void settle() { usleep(2000000); }
  void compact() { database->CompactRange(nullptr, nullptr); }
};

struct Session {
  leveldb::DB *database;
  leveldb::WriteOptions writing;
  leveldb::ReadOptions reading;
  leveldb::WriteBatch batch;
  std::string value;

  Session(Engine &engine, bool is_durable) : database(engine.database) { writing.sync = is_durable; }

  void begin(size_t) { batch.Clear(); }

  void put(uint64_t id, const void *value, size_t length, bool) {
    uint64_t key = peer::key(id);
    batch.Put(slice(key), leveldb::Slice(static_cast<const char *>(value), length));
  }

  void remove(uint64_t id) {
    uint64_t key = peer::key(id);
    batch.Delete(slice(key));
  }

  void commit() { check(database->Write(writing, &batch), "committing"); }

  bool get(uint64_t id, uint64_t *sum) {
    uint64_t key = peer::key(id);
    leveldb::Status status = database->Get(reading, slice(key), &value);
    if (status.IsNotFound()) return false;
    check(status, "reading");
    return workload_consume(id, value.data(), value.size(), sum);
  }

  size_t get_many(const uint64_t *ids, size_t count, uint64_t *sum) {
    return peer::get_one_by_one(*this, ids, count, sum);
  }

  void begin_snapshot() { reading.snapshot = database->GetSnapshot(); }

  void end_snapshot() {
    database->ReleaseSnapshot(reading.snapshot);
    reading.snapshot = nullptr;
  }

  uint64_t scan(uint64_t *sum) {
    std::unique_ptr<leveldb::Iterator> iterator(database->NewIterator(reading));
    uint64_t found = 0;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      leveldb::Slice data = iterator->value();
      found += workload_consume(peer::id(iterator->key().data()), data.data(), data.size(), sum);
    }
    check(iterator->status(), "scanning");
    return found;
  }
};

}  // namespace

extern "C" const peer_interface *varve_peer(const char *) { return peer::interface<Engine, Session>(); }
