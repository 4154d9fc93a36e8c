// SQLite: WAL, a table of an integer key and a blob, prepared statements, a connection a thread, mmap_size of 2 GiB,
// checkpoints at 1,000 pages. Durable commits use synchronous=FULL, others NORMAL. A mutex puts the writers in a row;
// a transaction of one operation is an implicit one.
#include <sqlite3.h>

#include <mutex>

#include "peer.hpp"

namespace {

void check(sqlite3 *database, int result, const char *what) {
  if (result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW) return;
  peer::fail("sqlite", what, database == nullptr ? sqlite3_errstr(result) : sqlite3_errmsg(database));
}

void execute(sqlite3 *database, const std::string &statement) {
  check(database, sqlite3_exec(database, statement.c_str(), nullptr, nullptr, nullptr), statement.c_str());
}

struct Engine {
  std::string folder;
  uint64_t cacheBytes = 0;
  sqlite3 *database = nullptr;
  std::mutex writer;

  static const char *version() { return sqlite3_libversion(); }

  sqlite3 *connect(bool is_durable) {
    sqlite3 *connection;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    check(nullptr, sqlite3_open_v2((folder + "/kv.sqlite").c_str(), &connection, flags, nullptr), "opening");
    sqlite3_busy_timeout(connection, 20000);
    execute(connection, "PRAGMA journal_mode=WAL");
    execute(connection, is_durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
    execute(connection, "PRAGMA cache_size=-" + std::to_string(cacheBytes / 1024));
    execute(connection, "PRAGMA mmap_size=2147418112");
    return connection;
  }

  void open(const peer_options &options) {
    folder = options.folder;
    cacheBytes = options.cache_bytes;
    database = connect(false);
    execute(database, "CREATE TABLE IF NOT EXISTS kv(id INTEGER PRIMARY KEY, v BLOB)");
  }

  /// The last connection that closes checkpoints, and removes the log.
  void close() { sqlite3_close(database); }

  void maintain() {
    std::lock_guard<std::mutex> guard(writer);
    sqlite3_wal_checkpoint_v2(database, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  }

  void settle() {}

  void compact() {
    execute(database, "PRAGMA wal_checkpoint(TRUNCATE)");
    execute(database, "VACUUM");
    execute(database, "PRAGMA wal_checkpoint(TRUNCATE)");
  }
};

struct Session {
  Engine &engine;
  sqlite3 *database;
  sqlite3_stmt *putting, *deleting, *reading, *scanning, *beginning, *committing;
  bool isExplicit = false;

  Session(Engine &engine, bool is_durable) : engine(engine), database(engine.connect(is_durable)) {
    putting = prepare("REPLACE INTO kv(id,v) VALUES(?,?)");
    deleting = prepare("DELETE FROM kv WHERE id=?");
    reading = prepare("SELECT v FROM kv WHERE id=?");
    scanning = prepare("SELECT id,v FROM kv ORDER BY id");
    beginning = prepare("BEGIN IMMEDIATE");
    committing = prepare("COMMIT");
  }

  ~Session() {
    for (sqlite3_stmt *statement : {putting, deleting, reading, scanning, beginning, committing})
      sqlite3_finalize(statement);
    sqlite3_close(database);
  }

  sqlite3_stmt *prepare(const char *text) {
    sqlite3_stmt *statement;
    check(database, sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr), text);
    return statement;
  }

  void run(sqlite3_stmt *statement) {
    check(database, sqlite3_step(statement), "a step");
    sqlite3_reset(statement);
  }

  void begin(size_t count) {
    engine.writer.lock();
    isExplicit = count > 1;
    if (isExplicit) run(beginning);
  }

  void put(uint64_t id, const void *value, size_t length, bool) {
    sqlite3_bind_int64(putting, 1, static_cast<sqlite3_int64>(id));
    sqlite3_bind_blob(putting, 2, value, static_cast<int>(length), SQLITE_STATIC);
    run(putting);
  }

  void remove(uint64_t id) {
    sqlite3_bind_int64(deleting, 1, static_cast<sqlite3_int64>(id));
    run(deleting);
  }

  void commit() {
    if (isExplicit) run(committing);
    engine.writer.unlock();
  }

  bool get(uint64_t id, uint64_t *sum) {
    sqlite3_bind_int64(reading, 1, static_cast<sqlite3_int64>(id));
    bool isRight = false;
    int result = sqlite3_step(reading);
    if (result == SQLITE_ROW) {
      const void *value = sqlite3_column_blob(reading, 0);
      isRight = workload_consume(id, value, static_cast<size_t>(sqlite3_column_bytes(reading, 0)), sum);
    } else {
      check(database, result, "reading");
    }
    sqlite3_reset(reading);
    return isRight;
  }

  size_t get_many(const uint64_t *ids, size_t count, uint64_t *sum) {
    return peer::get_one_by_one(*this, ids, count, sum);
  }

  void begin_snapshot() { execute(database, "BEGIN"); }
  void end_snapshot() { execute(database, "COMMIT"); }

  uint64_t scan(uint64_t *sum) {
    uint64_t found = 0;
    while (sqlite3_step(scanning) == SQLITE_ROW) {
      const void *value = sqlite3_column_blob(scanning, 1);
      size_t length = static_cast<size_t>(sqlite3_column_bytes(scanning, 1));
      found += workload_consume(static_cast<uint64_t>(sqlite3_column_int64(scanning, 0)), value, length, sum);
    }
    sqlite3_reset(scanning);
    return found;
  }
};

}  // namespace

extern "C" const peer_interface *varve_peer(const char *) { return peer::interface<Engine, Session>(); }
