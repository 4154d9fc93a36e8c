// LMDB: MDB_NOTLS, a map of 32 GiB, MDB_APPEND for ascending fills. `lmdb-wm` adds MDB_WRITEMAP. Without durability
// MDB_NOSYNC, and MDB_MAPASYNC with the writable map.
#include <lmdb.h>
#include <unistd.h>

#include "peer.hpp"

namespace {

void check(int result, const char *what) {
  if (result != 0) peer::fail("lmdb", what, mdb_strerror(result));
}

template <bool isWritableMap>
struct Engine {
  MDB_env *environment = nullptr;
  MDB_dbi database = 0;
  std::string folder;

  static const char *version() { return mdb_version(nullptr, nullptr, nullptr); }

  void open(const peer_options &options) {
    folder = options.folder;
    open();
  }

  void open() {
    check(mdb_env_create(&environment), "making an environment");
    check(mdb_env_set_mapsize(environment, 32ull << 30), "setting the size of the map");
    check(mdb_env_open(environment, folder.c_str(), MDB_NOTLS | (isWritableMap ? MDB_WRITEMAP : 0), 0644), "opening");
    MDB_txn *transaction;
    check(mdb_txn_begin(environment, nullptr, 0, &transaction), "beginning");
    check(mdb_dbi_open(transaction, nullptr, 0, &database), "opening the database");
    check(mdb_txn_commit(transaction), "committing");
  }

  void close() {
    check(mdb_env_sync(environment, 1), "syncing");
    mdb_env_close(environment);
  }

  void maintain() { check(mdb_env_sync(environment, 1), "syncing"); }
  void settle() {}

  /// A copy without free pages takes the place of the file. No session may be open.
  void compact() {
    std::string old = folder + "/data.mdb", copy = folder + "/compact.mdb";
    unlink(copy.c_str());
    FILE *file = fopen(copy.c_str(), "w");
    if (file == nullptr) peer::fail("lmdb", "compacting", "no file could be made");
    check(mdb_env_copyfd2(environment, fileno(file), MDB_CP_COMPACT), "copying");
    fdatasync(fileno(file));
    fclose(file);
    mdb_env_close(environment);
    if (rename(copy.c_str(), old.c_str()) != 0) peer::fail("lmdb", "compacting", "the copy could not be renamed");
    open();
  }
};

template <bool isWritableMap>
struct Session {
  Engine<isWritableMap> &engine;
  MDB_txn *writing = nullptr, *reading = nullptr;
  bool hasSnapshot = false;

  Session(Engine<isWritableMap> &engine, bool is_durable) : engine(engine) {
    check(mdb_env_set_flags(engine.environment, MDB_NOSYNC, !is_durable), "setting flags");
    if (isWritableMap) check(mdb_env_set_flags(engine.environment, MDB_MAPASYNC, !is_durable), "setting flags");
  }

  ~Session() {
    if (reading != nullptr) mdb_txn_abort(reading);
  }

  void begin(size_t) { check(mdb_txn_begin(engine.environment, nullptr, 0, &writing), "beginning"); }

  void put(uint64_t id, const void *value, size_t length, bool is_appending) {
    uint64_t bytes = peer::key(id);
    MDB_val key{8, &bytes}, data{length, const_cast<void *>(value)};
    check(mdb_put(writing, engine.database, &key, &data, is_appending ? MDB_APPEND : 0), "putting");
  }

  void remove(uint64_t id) {
    uint64_t bytes = peer::key(id);
    MDB_val key{8, &bytes};
    int result = mdb_del(writing, engine.database, &key, nullptr);
    if (result != MDB_NOTFOUND) check(result, "deleting");
  }

  void commit() { check(mdb_txn_commit(writing), "committing"); }

  void start() {
    if (reading == nullptr)
      check(mdb_txn_begin(engine.environment, nullptr, MDB_RDONLY, &reading), "beginning to read");
    else
      check(mdb_txn_renew(reading), "renewing");
  }

  bool get(uint64_t id, uint64_t *sum) {
    if (!hasSnapshot) start();
    uint64_t bytes = peer::key(id);
    MDB_val key{8, &bytes}, data;
    bool isRight = false;
    int result = mdb_get(reading, engine.database, &key, &data);
    if (result == 0)
      isRight = workload_consume(id, data.mv_data, data.mv_size, sum);
    else if (result != MDB_NOTFOUND)
      check(result, "reading");
    if (!hasSnapshot) mdb_txn_reset(reading);
    return isRight;
  }

  size_t get_many(const uint64_t *ids, size_t count, uint64_t *sum) {
    return peer::get_one_by_one(*this, ids, count, sum);
  }

  void begin_snapshot() {
    start();
    hasSnapshot = true;
  }

  void end_snapshot() {
    mdb_txn_reset(reading);
    hasSnapshot = false;
  }

  uint64_t scan(uint64_t *sum) {
    start();
    MDB_cursor *cursor;
    check(mdb_cursor_open(reading, engine.database, &cursor), "opening a cursor");
    MDB_val key, data;
    uint64_t found = 0;
    while (mdb_cursor_get(cursor, &key, &data, MDB_NEXT) == 0)
      found += workload_consume(peer::id(key.mv_data), data.mv_data, data.mv_size, sum);
    mdb_cursor_close(cursor);
    mdb_txn_reset(reading);
    return found;
  }
};

}  // namespace

extern "C" const peer_interface *varve_peer(const char *name) {
  if (std::string(name) == "lmdb-wm") return peer::interface<Engine<true>, Session<true>>();
  return peer::interface<Engine<false>, Session<false>>();
}
