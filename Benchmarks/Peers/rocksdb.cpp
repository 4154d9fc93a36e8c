// RocksDB: LZ4 on all levels, dynamic level sizes, memtables of 64 MiB, two background jobs, Bloom filters of ten bits,
// an LRU block cache, blocks of 16 KiB. Without durability the log is written to the system and not synced.
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "peer.hpp"

namespace {

void check(const rocksdb::Status &status, const char *what) {
  if (!status.ok()) peer::fail("rocksdb", what, status.ToString());
}

rocksdb::Slice slice(const uint64_t &key) { return rocksdb::Slice(reinterpret_cast<const char *>(&key), 8); }

struct Engine {
  rocksdb::DB *database = nullptr;

  static const char *version() {
    static const std::string text = std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + "." +
                                    std::to_string(ROCKSDB_PATCH);
    return text.c_str();
  }

  void open(const peer_options &settings) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kLZ4Compression;
    options.level_compaction_dynamic_level_bytes = true;
    options.write_buffer_size = 64 << 20;
    options.max_background_jobs = 2;
    options.bytes_per_sync = 1 << 20;
    options.allow_concurrent_memtable_write = true;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(settings.cache_bytes);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
    table.block_size = 16 << 10;
    table.format_version = 5;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    check(rocksdb::DB::Open(options, settings.folder, &database), "opening");
  }

  void close() {
    check(database->Close(), "closing");
    delete database;
  }

  void maintain() {}

  void settle() {
    check(database->Flush(rocksdb::FlushOptions()), "flushing");
    uint64_t running = 1, pending = 1;
    while (running + pending > 0) {
      usleep(50000);
      database->GetIntProperty("rocksdb.num-running-compactions", &running);
      database->GetIntProperty("rocksdb.compaction-pending", &pending);
    }
  }

  void compact() {
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    check(database->CompactRange(options, nullptr, nullptr), "compacting");
    settle();
  }
};

struct Session {
  rocksdb::DB *database;
  rocksdb::WriteOptions writing;
  rocksdb::ReadOptions reading;
  rocksdb::WriteBatch batch;
  rocksdb::PinnableSlice value;

  Session(Engine &engine, bool is_durable) : database(engine.database) { writing.sync = is_durable; }

  void begin(size_t) { batch.Clear(); }

  void put(uint64_t id, const void *value, size_t length, bool) {
    uint64_t key = peer::key(id);
    batch.Put(slice(key), rocksdb::Slice(static_cast<const char *>(value), length));
  }

  void remove(uint64_t id) {
    uint64_t key = peer::key(id);
    batch.Delete(slice(key));
  }

  void commit() { check(database->Write(writing, &batch), "committing"); }

  bool get(uint64_t id, uint64_t *sum) {
    uint64_t key = peer::key(id);
    value.Reset();
    rocksdb::Status status = database->Get(reading, database->DefaultColumnFamily(), slice(key), &value);
    if (status.IsNotFound()) return false;
    check(status, "reading");
    return workload_consume(id, value.data(), value.size(), sum);
  }

  size_t get_many(const uint64_t *ids, size_t count, uint64_t *sum) {
    constexpr size_t most = 16;
    std::array<uint64_t, most> keys;
    std::array<rocksdb::Slice, most> slices;
    std::array<rocksdb::PinnableSlice, most> values;
    std::array<rocksdb::Status, most> statuses;
    if (count > most) peer::fail("rocksdb", "reading many", "more than 16 at once");
    for (size_t i = 0; i < count; i++) {
      keys[i] = peer::key(ids[i]);
      slices[i] = slice(keys[i]);
    }
    database->MultiGet(
        reading, database->DefaultColumnFamily(), count, slices.data(), values.data(), statuses.data());
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
      if (statuses[i].IsNotFound()) continue;
      check(statuses[i], "reading many");
      found += workload_consume(ids[i], values[i].data(), values[i].size(), sum);
    }
    return found;
  }

  void begin_snapshot() { reading.snapshot = database->GetSnapshot(); }

  void end_snapshot() {
    database->ReleaseSnapshot(reading.snapshot);
    reading.snapshot = nullptr;
  }

  uint64_t scan(uint64_t *sum) {
    std::unique_ptr<rocksdb::Iterator> iterator(database->NewIterator(reading));
    uint64_t found = 0;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      rocksdb::Slice data = iterator->value();
      found += workload_consume(peer::id(iterator->key().data()), data.data(), data.size(), sum);
    }
    check(iterator->status(), "scanning");
    return found;
  }
};

}  // namespace

extern "C" const peer_interface *varve_peer(const char *) { return peer::interface<Engine, Session>(); }
