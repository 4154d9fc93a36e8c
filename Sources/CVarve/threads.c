// Locks, condition variables and threads. Misuse and lack of memory end the process: nothing can go on without a lock.

#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "CVarve.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#if defined(__linux__)
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

varve_mutex *varve_mutex_create(void) {
  varve_mutex *mutex = malloc(sizeof *mutex);
  if (mutex == NULL) abort();
#if defined(__GLIBC__)
  // Locks are held for some memory accesses mostly: whoever meets one looks at it again for a moment before it sleeps,
  // since waking up takes a hundred times as long.
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) abort();
  if (pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP) != 0) abort();
  if (pthread_mutex_init(&mutex->mutex, &attributes) != 0) abort();
  pthread_mutexattr_destroy(&attributes);
#else
  if (pthread_mutex_init(&mutex->mutex, NULL) != 0) abort();
#endif
  return mutex;
}

void varve_mutex_destroy(varve_mutex *mutex) {
  if (pthread_mutex_destroy(&mutex->mutex) != 0) abort();
  free(mutex);
}

varve_condition *varve_condition_create(void) {
  varve_condition *condition = malloc(sizeof *condition);
  if (condition == NULL) abort();
#if defined(__linux__)
  // Limits must not change with the wall clock. Apple has a relative wait instead.
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes) != 0) abort();
  if (pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) != 0) abort();
  if (pthread_cond_init(&condition->condition, &attributes) != 0) abort();
  pthread_condattr_destroy(&attributes);
#else
  if (pthread_cond_init(&condition->condition, NULL) != 0) abort();
#endif
  return condition;
}

void varve_condition_destroy(varve_condition *condition) {
  if (pthread_cond_destroy(&condition->condition) != 0) abort();
  free(condition);
}

void varve_condition_wait(varve_condition *condition, varve_mutex *mutex) {
  if (pthread_cond_wait(&condition->condition, &mutex->mutex) != 0) abort();
}

bool varve_condition_wait_for(varve_condition *condition, varve_mutex *mutex, uint64_t nanoseconds) {
  const uint64_t second = 1000000000;
  // A longer wait than a year is cut to one, so that the sum below cannot overflow.
  if (nanoseconds > 31536000 * second) nanoseconds = 31536000 * second;
#if defined(__linux__)
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += (time_t)(nanoseconds / second);
  until.tv_nsec += (long)(nanoseconds % second);
  if (until.tv_nsec >= (long)second) {
    until.tv_sec += 1;
    until.tv_nsec -= (long)second;
  }
  int result = pthread_cond_timedwait(&condition->condition, &mutex->mutex, &until);
#else
  struct timespec limit = {(time_t)(nanoseconds / second), (long)(nanoseconds % second)};
  int result = pthread_cond_timedwait_relative_np(&condition->condition, &mutex->mutex, &limit);
#endif
  if (result != 0 && result != ETIMEDOUT) abort();
  return result == 0;
}

void varve_condition_signal(varve_condition *condition) { pthread_cond_signal(&condition->condition); }

void varve_condition_broadcast(varve_condition *condition) { pthread_cond_broadcast(&condition->condition); }

struct start {
  void (*body)(void *);
  void *argument;
};

static void *run(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  start.body(start.argument);
  return NULL;
}

int varve_thread_start(varve_thread *thread, void (*body)(void *argument), void *argument) {
  struct start *start = malloc(sizeof *start);
  if (start == NULL) return -ENOMEM;
  start->body = body;
  start->argument = argument;
  int result = pthread_create(&thread->handle, NULL, run, start);
  if (result != 0) free(start);
  return -result;
}

void varve_thread_join(varve_thread thread) {
  if (pthread_join(thread.handle, NULL) != 0) abort();
}

void varve_thread_detach_current(void) { pthread_detach(pthread_self()); }

void varve_thread_set_name(const char *name) {
#if defined(__linux__)
  char shortened[16];
  strncpy(shortened, name, sizeof shortened - 1);
  shortened[sizeof shortened - 1] = 0;
  pthread_setname_np(pthread_self(), shortened);
#else
  pthread_setname_np(name);
#endif
}

void varve_thread_lower_priority(void) {
#if defined(__linux__)
  // On Linux both values belong to the thread although the names say process (`man 2 setpriority`, NOTES). The
  // I/O class is best effort (2) at its lowest level (7): the idle class can starve for ever.
  pid_t thread = (pid_t)syscall(SYS_gettid);
  setpriority(PRIO_PROCESS, (id_t)thread, 10);
  syscall(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, thread, 2 << 13 | 7);
#else
  pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0);
#endif
}

uint64_t varve_thread_identity(void) {
  // The address of a variable that each thread has for itself.
  static _Thread_local char place;
  return (uint64_t)(uintptr_t)&place;
}
