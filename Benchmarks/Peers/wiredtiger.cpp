// WiredTiger: row store, Snappy blocks where the extension is installed (setup looks), logging on, a checkpoint each
// 60 s or 256 MB of log, leaf pages of 16 KiB. Durable commits use sync=on, others sync=off.
#include <wiredtiger.h>

#include <cerrno>

#include "peer.hpp"

namespace {

void check(int result, const char *what) {
  if (result != 0) peer::fail("wiredtiger", what, wiredtiger_strerror(result));
}

struct Engine {
  WT_CONNECTION *connection = nullptr;

  static const char *version() { return wiredtiger_version(nullptr, nullptr, nullptr); }

  void open(const peer_options &options) {
    std::string settings = "create,cache_size=" + std::to_string(options.cache_bytes >> 20) +
                           "MB,session_max=64,log=(enabled=true,file_max=32MB),"
                           "transaction_sync=(enabled=false,method=fsync),checkpoint=(wait=60,log_size=256MB),"
                           "eviction=(threads_min=1,threads_max=2)";
    std::string table = "key_format=u,value_format=u,leaf_page_max=16KB";
#ifdef WIREDTIGER_SNAPPY
    settings += ",extensions=[" WIREDTIGER_SNAPPY "]";
    table += ",block_compressor=snappy";
#endif
    check(wiredtiger_open(options.folder, nullptr, settings.c_str(), &connection), "opening");
    WT_SESSION *session = makeSession(nullptr);
    check(session->create(session, "table:kv", table.c_str()), "making the table");
    session->close(session, nullptr);
  }

  WT_SESSION *makeSession(const char *settings) {
    WT_SESSION *session;
    check(connection->open_session(connection, nullptr, settings, &session), "opening a session");
    return session;
  }

  void close() { check(connection->close(connection, nullptr), "closing"); }

  void maintain() {
    WT_SESSION *session = makeSession(nullptr);
    check(session->checkpoint(session, nullptr), "a checkpoint");
    session->close(session, nullptr);
  }

  void settle() {}

  void compact() {
    WT_SESSION *session = makeSession(nullptr);
    int result = session->compact(session, "table:kv", "timeout=600");
    if (result != EBUSY) check(result, "compacting");
    check(session->checkpoint(session, nullptr), "a checkpoint");
    session->close(session, nullptr);
  }
};

struct Session {
  WT_SESSION *session;
  WT_CURSOR *cursor;
  const char *durability;

  Session(Engine &engine, bool is_durable)
      : session(engine.makeSession("isolation=snapshot")), durability(is_durable ? "sync=on" : "sync=off") {
    check(session->open_cursor(session, "table:kv", nullptr, "overwrite=true", &cursor), "opening a cursor");
  }

  ~Session() { session->close(session, nullptr); }

  void setKey(const uint64_t &bytes) {
    WT_ITEM key = {};
    key.data = &bytes;
    key.size = 8;
    cursor->set_key(cursor, &key);
  }

  void begin(size_t) { check(session->begin_transaction(session, nullptr), "beginning"); }

  void put(uint64_t id, const void *value, size_t length, bool) {
    uint64_t bytes = peer::key(id);
    WT_ITEM item = {};
    item.data = value;
    item.size = length;
    setKey(bytes);
    cursor->set_value(cursor, &item);
    check(cursor->insert(cursor), "putting");
  }

  void remove(uint64_t id) {
    uint64_t bytes = peer::key(id);
    setKey(bytes);
    int result = cursor->remove(cursor);
    if (result != WT_NOTFOUND) check(result, "deleting");
  }

  void commit() {
    cursor->reset(cursor);
    check(session->commit_transaction(session, durability), "committing");
  }

  bool get(uint64_t id, uint64_t *sum) {
    uint64_t bytes = peer::key(id);
    setKey(bytes);
    bool isRight = false;
    int result = cursor->search(cursor);
    if (result == 0) {
      WT_ITEM value;
      check(cursor->get_value(cursor, &value), "reading");
      isRight = workload_consume(id, value.data, value.size, sum);
    } else if (result != WT_NOTFOUND) {
      check(result, "searching");
    }
    cursor->reset(cursor);
    return isRight;
  }

  size_t get_many(const uint64_t *ids, size_t count, uint64_t *sum) {
    return peer::get_one_by_one(*this, ids, count, sum);
  }

  void begin_snapshot() { check(session->begin_transaction(session, "isolation=snapshot"), "beginning"); }
  void end_snapshot() { check(session->commit_transaction(session, nullptr), "committing"); }

  uint64_t scan(uint64_t *sum) {
    uint64_t found = 0;
    WT_ITEM key, value;
    while (cursor->next(cursor) == 0) {
      cursor->get_key(cursor, &key);
      cursor->get_value(cursor, &value);
      found += workload_consume(peer::id(key.data), value.data, value.size, sum);
    }
    cursor->reset(cursor);
    return found;
  }
};

}  // namespace

extern "C" const peer_interface *varve_peer(const char *) { return peer::interface<Engine, Session>(); }
