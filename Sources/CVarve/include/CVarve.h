/// What Swift cannot say, or imports badly: checksums by processor instruction, atomic words in mapped memory,
/// pthread objects at a stable address, and the system calls whose C interface is a macro, variadic or different on
/// each system.
///
/// Functions that return `int` return zero or more on success and a negated `errno` on failure.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// MARK: Checksums (crc32c.c)

/// The CRC-32C (Castagnoli) of `length` bytes. `seed` is 0, or the result for the bytes that stand before them.
uint32_t varve_crc32c(uint32_t seed, const void *bytes, size_t length);

/// The same, computed without special instructions.
uint32_t varve_crc32c_portable(uint32_t seed, const void *bytes, size_t length);

/// Whether `varve_crc32c` uses instructions of the processor.
bool varve_crc32c_uses_hardware(void);

// MARK: Words in shared memory

/// Stores `word` at `address`, a multiple of eight, in one piece and after all earlier stores.
static inline void varve_store_release(void *address, uint64_t word) {
  __atomic_store_n((uint64_t *)address, word, __ATOMIC_RELEASE);
}

/// Loads the word at `address`, a multiple of eight, in one piece and before all later loads.
static inline uint64_t varve_load_acquire(const void *address) {
  return __atomic_load_n((const uint64_t *)address, __ATOMIC_ACQUIRE);
}

/// Loads the word at `address`, a multiple of eight, in one piece.
static inline uint64_t varve_load_relaxed(const void *address) {
  return __atomic_load_n((const uint64_t *)address, __ATOMIC_RELAXED);
}

/// Sets the bits of `bits` in the word at `address`, a multiple of eight, in one piece.
static inline void varve_or_relaxed(void *address, uint64_t bits) {
  __atomic_fetch_or((uint64_t *)address, bits, __ATOMIC_RELAXED);
}

/// Tells the processor that the thread only waits for another one's store.
static inline void varve_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

/// Asks the processor to fetch the memory at `address`, which need not be readable. Changes nothing.
static inline void varve_prefetch(const void *address) {
  __builtin_prefetch(address, 0, 3);
}

// MARK: Locks and threads (threads.c)

/// A mutex at a stable address. Made by `varve_mutex_create`.
typedef struct varve_mutex {
  pthread_mutex_t mutex;
} varve_mutex;

/// A condition variable at a stable address. Made by `varve_condition_create`.
typedef struct varve_condition {
  pthread_cond_t condition;
} varve_condition;

/// Makes a mutex. Ends the process when there is no memory.
varve_mutex *varve_mutex_create(void);
/// Frees a mutex that nobody holds.
void varve_mutex_destroy(varve_mutex *mutex);

/// Takes the mutex, waiting for it.
static inline void varve_mutex_lock(varve_mutex *mutex) {
  if (pthread_mutex_lock(&mutex->mutex) != 0) abort();
}

/// Gives the mutex back.
static inline void varve_mutex_unlock(varve_mutex *mutex) {
  if (pthread_mutex_unlock(&mutex->mutex) != 0) abort();
}

/// Makes a condition variable. Ends the process when there is no memory.
varve_condition *varve_condition_create(void);
/// Frees a condition variable on which nobody waits.
void varve_condition_destroy(varve_condition *condition);
/// Gives the mutex back, waits for a signal, and takes the mutex again. May also return without a signal.
void varve_condition_wait(varve_condition *condition, varve_mutex *mutex);
/// The same with a limit. Returns false when `nanoseconds` passed without a signal.
bool varve_condition_wait_for(varve_condition *condition, varve_mutex *mutex, uint64_t nanoseconds);
/// Wakes one that waits.
void varve_condition_signal(varve_condition *condition);
/// Wakes all that wait.
void varve_condition_broadcast(varve_condition *condition);

/// A started thread.
typedef struct varve_thread {
  pthread_t handle;
} varve_thread;

/// Starts a thread that calls `body` with `argument`.
int varve_thread_start(varve_thread *thread, void (*body)(void *argument), void *argument);
/// Waits for the end of the thread.
void varve_thread_join(varve_thread thread);
/// Lets the calling thread free itself at its end; nobody may join it.
void varve_thread_detach_current(void);
/// Names the calling thread. The system may keep only the first 15 bytes.
void varve_thread_set_name(const char *name);
/// Lets the calling thread yield processor and disk to others, as far as the system can do that.
void varve_thread_lower_priority(void);
/// A number, not zero, that no other living thread has.
uint64_t varve_thread_identity(void);

// MARK: Files (system.c)

/// What `fstat` says, in the same form on every system.
typedef struct varve_status {
  uint64_t device;
  uint64_t node;
  uint64_t size;
  bool is_regular;
  bool is_directory;
} varve_status;

/// `openat` with a mode. Returns the descriptor.
int varve_openat(int directory, const char *name, int flags, unsigned mode);
/// `fstat`.
int varve_fstat(int descriptor, varve_status *status);
/// `fstatat` without following a link at `name`.
int varve_fstatat(int directory, const char *name, varve_status *status);
/// Lets the group of the folder read and write the file if it may write the folder: `fstat`, `fchown`, `fchmod`. Others
/// never get in. Does nothing where that fails.
void varve_share_with_group_of(int directory, int file);
/// Makes all writes to the file durable: `fdatasync`, or `F_FULLFSYNC` where that is needed.
int varve_sync_file(int descriptor);
/// Makes all changes of the folder's entries durable: `fsync`, or `F_FULLFSYNC` where that is needed.
int varve_sync_directory(int descriptor);
/// `flock` with `LOCK_EX | LOCK_NB`, and `fcntl` with `F_OFD_SETLK` for those who ask. Returns 1 when the lock was taken
/// and 0 when somebody else holds it.
int varve_lock_exclusive(int descriptor);
/// Gives the lock back: `flock` with `LOCK_UN`.
int varve_unlock(int descriptor);
/// Whether somebody holds the lock: `fcntl` with `F_OFD_GETLK`, which takes nothing; where the system does not know that,
/// `flock` with `LOCK_SH | LOCK_NB`, given back at once. 1 for yes, 0 for no.
int varve_is_locked(int descriptor);
/// Writes the name of this process's program into `name`, ended by a zero byte, and cut if need be.
void varve_program_name(char *name, size_t length);
/// Whether stores into mappings are known to be as good as writes on the file system of the file.
bool varve_prefers_mapped_stores(int descriptor);
/// Maps `length` bytes of the file from `offset` on, shared with everybody.
int varve_map(int descriptor, uint64_t offset, size_t length, bool is_writable, void **address);
/// Makes the pages of a writable mapping ready to be stored into, from `start` on, as far as the system can do that
/// (`madvise` with `MADV_POPULATE_WRITE`). Changes no byte; pages behind the end of the file are left alone.
void varve_populate(void *start, size_t length);
/// Opens a file without a name that lives in memory, or at least nowhere for long. Returns the descriptor.
int varve_open_anonymous(void);
/// Makes a range of the file read as zeros and gives its memory back. Behind the range, up to 16 KiB of zeros may be
/// written too.
int varve_punch_hole(int descriptor, uint64_t offset, uint64_t length);

/// A folder that is being listed.
typedef struct varve_listing varve_listing;
/// Begins to list the open folder.
int varve_listing_open(int directory, varve_listing **listing);
/// The next name, `.` and `..` included, valid until the next call. NULL at the end; then `failure` holds zero or a
/// negated `errno`.
const char *varve_listing_next(varve_listing *listing, int *failure);
/// Ends the listing.
void varve_listing_close(varve_listing *listing);

/// Writes the system's words for an `errno` into `text`, ended by a zero byte.
void varve_describe_error(int number, char *text, size_t length);
