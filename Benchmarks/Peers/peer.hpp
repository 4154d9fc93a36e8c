// Makes the functions of Peer.h out of an engine class and its session class, without a virtual call between.
#pragma once
#include <Peer.h>
#include <Workload.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace peer {

/// Ends the process with a sentence.
[[noreturn]] inline void fail(const char *engine, const char *what, const std::string &why) {
  std::fprintf(stderr, "%s: %s failed: %s\n", engine, what, why.c_str());
  std::abort();
}

/// An ID as eight bytes that sort like the number.
inline uint64_t key(uint64_t id) { return __builtin_bswap64(id); }

/// The ID in eight bytes of a key.
inline uint64_t id(const void *key) {
  uint64_t bytes;
  memcpy(&bytes, key, 8);
  return __builtin_bswap64(bytes);
}

/// Reads several values one by one in one snapshot, for engines that have no call for it.
template <class Session>
size_t get_one_by_one(Session &session, const uint64_t *ids, size_t count, uint64_t *sum) {
  size_t found = 0;
  session.begin_snapshot();
  for (size_t i = 0; i < count; i++) found += session.get(ids[i], sum);
  session.end_snapshot();
  return found;
}

template <class Engine, class Session>
const peer_interface *interface() {
  static const peer_interface table = {
      PEER_INTERFACE_VERSION,
      [] { return Engine::version(); },
      [](const peer_options *options) -> void * {
        Engine *engine = new Engine;
        engine->open(*options);
        return engine;
      },
      [](void *engine) {
        static_cast<Engine *>(engine)->close();
        delete static_cast<Engine *>(engine);
      },
      [](void *engine) { static_cast<Engine *>(engine)->maintain(); },
      [](void *engine) { static_cast<Engine *>(engine)->settle(); },
      [](void *engine) { static_cast<Engine *>(engine)->compact(); },
      [](void *engine, bool is_durable) -> void * { return new Session(*static_cast<Engine *>(engine), is_durable); },
      [](void *session) { delete static_cast<Session *>(session); },
      [](void *session, size_t count) { static_cast<Session *>(session)->begin(count); },
      [](void *session, uint64_t id, const void *value, size_t length, bool is_appending) {
        static_cast<Session *>(session)->put(id, value, length, is_appending);
      },
      [](void *session, uint64_t id) { static_cast<Session *>(session)->remove(id); },
      [](void *session) { static_cast<Session *>(session)->commit(); },
      [](void *session, uint64_t id, uint64_t *sum) { return static_cast<Session *>(session)->get(id, sum); },
      [](void *session, const uint64_t *ids, size_t count, uint64_t *sum) {
        return static_cast<Session *>(session)->get_many(ids, count, sum);
      },
      [](void *session) { static_cast<Session *>(session)->begin_snapshot(); },
      [](void *session) { static_cast<Session *>(session)->end_snapshot(); },
      [](void *session, uint64_t *sum) { return static_cast<Session *>(session)->scan(sum); },
  };
  return &table;
}

}  // namespace peer
