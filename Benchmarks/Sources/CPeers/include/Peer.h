/// What the workloads need of a key-value engine. Each peer is a library of its own, built by `Benchmarks/setup` from
/// `Benchmarks/Peers` and loaded when it is asked for: a peer that this machine does not have keeps nothing else from
/// being built, and no process holds the code of an engine that it does not measure.
///
/// Functions end the process with a sentence when the engine reports an error.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#pragma clang assume_nonnull begin
#else
#define _Nullable
#define _Nonnull
#endif

/// Changes with the layout of `peer_interface`. A library of another number is not used.
#define PEER_INTERFACE_VERSION 1u

/// How a store is opened.
typedef struct peer_options {
  /// The folder of the store, which exists.
  const char *folder;
  /// Bytes for the cache of an engine that has one of its own.
  uint64_t cache_bytes;
  /// Records that the workloads fill in, and bytes of each. A hint; only the limits use it.
  uint64_t record_count, value_length;
} peer_options;

/// The functions of an engine. `engine` is what `open` returned, `session` what `begin_session` returned. A session is
/// used by one thread.
typedef struct peer_interface {
  uint32_t interface_version;
  /// The version of the engine itself.
  const char *_Nonnull (*_Nonnull engine_version)(void);
  void *_Nonnull (*_Nonnull open)(const peer_options *options);
  /// Closes cleanly. All sessions have ended.
  void (*_Nonnull close)(void *engine);
  /// What an application calls once a second, if the engine needs it.
  void (*_Nonnull maintain)(void *engine);
  /// Waits for work in the background.
  void (*_Nonnull settle)(void *engine);
  /// Compacts everything, and returns when that is done.
  void (*_Nonnull compact)(void *engine);
  /// Begins a session whose commits are on the device when they return, or at least survive a kill of the process.
  void *_Nonnull (*_Nonnull begin_session)(void *engine, bool is_durable);
  void (*_Nonnull end_session)(void *session);
  /// Begins a transaction of so many operations.
  void (*_Nonnull begin)(void *session, size_t operation_count);
  /// `is_appending`: the ID is new and above all others.
  void (*_Nonnull put)(void *session, uint64_t id, const void *value, size_t length, bool is_appending);
  void (*_Nonnull remove)(void *session, uint64_t id);
  void (*_Nonnull commit)(void *session);
  /// Reads a value, within the snapshot if there is one, and looks at all of it. Returns whether it is there and right.
  bool (*_Nonnull get)(void *session, uint64_t id, uint64_t *sum);
  /// Reads several values from one state. Returns how many are there and right.
  size_t (*_Nonnull get_many)(void *session, const uint64_t *ids, size_t count, uint64_t *sum);
  void (*_Nonnull begin_snapshot)(void *session);
  void (*_Nonnull end_snapshot)(void *session);
  /// Reads all records in the order of their IDs. Returns how many are right.
  uint64_t (*_Nonnull scan)(void *session, uint64_t *sum);
} peer_interface;

/// The engine `name` of the library at `path`; NULL when it cannot be had, with the reason in `problem`.
const peer_interface *_Nullable peer_load(
    const char *path, const char *name, const char *_Nullable *_Nonnull problem);

/// A packed log with an array of offsets, which is no database: the least that any engine does. See limit_engine.c.
const peer_interface *limit_interface(void);

/// A rate of the machine alone, in operations a second. See limit_rates.c. `name` is one of `raw_append`,
/// `raw_append_mapped`, `raw_sync`, `raw_sync_growing`, `raw_copy` (an operation is a KiB), `raw_read` and
/// `raw_read_checked`; 0 for any other.
double limit_rate(const char *name, const peer_options *options, double seconds);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif
