// System calls that are variadic, macros, or different on each system. `EINTR` is dealt with here.

#if defined(__linux__)
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#endif

#include "CVarve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/vfs.h>
#endif

int varve_openat(int directory, const char *name, int flags, unsigned mode) {
  int descriptor;
  do descriptor = openat(directory, name, flags, (mode_t)mode);
  while (descriptor < 0 && errno == EINTR);
  return descriptor < 0 ? -errno : descriptor;
}

static int fill(varve_status *status, int result, const struct stat *from) {
  if (result < 0) return -errno;
  status->device = (uint64_t)from->st_dev;
  status->node = (uint64_t)from->st_ino;
  status->size = (uint64_t)from->st_size;
  status->is_regular = S_ISREG(from->st_mode);
  status->is_directory = S_ISDIR(from->st_mode);
  return 0;
}

int varve_fstat(int descriptor, varve_status *status) {
  struct stat found;
  return fill(status, fstat(descriptor, &found), &found);
}

int varve_fstatat(int directory, const char *name, varve_status *status) {
  struct stat found;
  return fill(status, fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW), &found);
}

void varve_share_with_group_of(int directory, int file) {
  struct stat folder, own;
  if (fstat(directory, &folder) < 0 || (folder.st_mode & 0020) == 0 || fstat(file, &own) < 0) return;
  // Whoever is in no common group with the folder's must not let their own group in.
  if (own.st_gid != folder.st_gid && fchown(file, (uid_t)-1, folder.st_gid) < 0) return;
  if (fchmod(file, (own.st_mode & 07777) | 0060) < 0) return;
}

int varve_sync_file(int descriptor) {
  int result;
#if defined(__APPLE__)
  // `fsync` reaches the drive but not its platter (`man 2 fsync`); F_FULLFSYNC does.
  do result = fcntl(descriptor, F_FULLFSYNC);
  while (result < 0 && errno == EINTR);
#else
  do result = fdatasync(descriptor);
  while (result < 0 && errno == EINTR);
#endif
  return result < 0 ? -errno : 0;
}

int varve_sync_directory(int descriptor) {
#if defined(__APPLE__)
  return varve_sync_file(descriptor);
#else
  int result;
  do result = fsync(descriptor);
  while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
#endif
}

// Beside the lock by `flock`, which is the one that counts, its holder has a record lock of the whole file, so that others
// can ask for it without taking it (`man 2 fcntl`, open file description locks). Who asks by `flock` and is stopped in
// between would shut the writer out. A shared one, since that needs no descriptor for writing; it is asked for as if for an
// exclusive one, and two of them are never held, since `flock` decides.
static int set_mark(int descriptor, short type) {
#if defined(F_OFD_SETLK)
  struct flock range = {.l_type = type, .l_whence = SEEK_SET};
  int result;
  do result = fcntl(descriptor, F_OFD_SETLK, &range);
  while (result < 0 && errno == EINTR);
  // Where `flock` is made of record locks, the two are in each other's way, and the one by `flock` is found instead.
  if (result == 0 || errno == EINVAL || errno == EAGAIN || errno == EACCES) return 0;
  return -errno;
#else
  (void)descriptor;
  (void)type;
  return 0;
#endif
}

int varve_lock_exclusive(int descriptor) {
  int result;
  do result = flock(descriptor, LOCK_EX | LOCK_NB);
  while (result < 0 && errno == EINTR);
  if (result < 0) return errno == EWOULDBLOCK ? 0 : -errno;
  result = set_mark(descriptor, F_RDLCK);
  return result < 0 ? result : 1;
}

int varve_unlock(int descriptor) {
  int result;
  set_mark(descriptor, F_UNLCK);
  do result = flock(descriptor, LOCK_UN);
  while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
}

int varve_is_locked(int descriptor) {
  int result;
#if defined(F_OFD_GETLK)
  struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  do result = fcntl(descriptor, F_OFD_GETLK, &range);
  while (result < 0 && errno == EINTR);
  if (result == 0) return range.l_type == F_UNLCK ? 0 : 1;
#endif
  do result = flock(descriptor, LOCK_SH | LOCK_NB);
  while (result < 0 && errno == EINTR);
  if (result < 0) return errno == EWOULDBLOCK ? 1 : -errno;
  do result = flock(descriptor, LOCK_UN);
  while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
}

void varve_program_name(char *name, size_t length) {
#if defined(__linux__)
  snprintf(name, length, "%s", program_invocation_short_name);
#else
  snprintf(name, length, "%s", getprogname());
#endif
}

bool varve_prefers_mapped_stores(int descriptor) {
#if defined(__linux__)
  struct statfs found;
  if (fstatfs(descriptor, &found) < 0) return false;
  switch ((uint32_t)found.f_type) {
  case 0xEF53:      // ext4
  case 0x58465342:  // xfs
  case 0x01021994:  // tmpfs
    return true;
  default:
    return false;
  }
#else
  (void)descriptor;
  return false;
#endif
}

void varve_populate(void *start, size_t length) {
#if defined(__linux__)
#if !defined(MADV_POPULATE_WRITE)
  enum { MADV_POPULATE_WRITE = 23 };
#endif
  // Since Linux 5.14. Where it fails the first store into each page finds that out, and pays for it.
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t first = (uintptr_t)start & ~(page - 1);
  uintptr_t end = (uintptr_t)start + length;
  if (end > first) madvise((void *)first, end - first, MADV_POPULATE_WRITE);
#else
  (void)start;
  (void)length;
#endif
}

int varve_map(int descriptor, uint64_t offset, size_t length, bool is_writable, void **address) {
  int protection = is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void *mapped = mmap(NULL, length, protection, MAP_SHARED, descriptor, (off_t)offset);
  if (mapped == MAP_FAILED) return -errno;
  *address = mapped;
  return 0;
}

int varve_open_anonymous(void) {
#if defined(__linux__)
  int descriptor = memfd_create("varve", MFD_CLOEXEC);
  return descriptor < 0 ? -errno : descriptor;
#else
  // Shared memory objects of Darwin can be sized only once, so a file whose name is gone takes their place.
  char path[] = "/tmp/varve-XXXXXX";
  int descriptor = mkstemp(path);
  if (descriptor < 0) return -errno;
  unlink(path);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
#endif
}

int varve_punch_hole(int descriptor, uint64_t offset, uint64_t length) {
  int result;
#if defined(__linux__)
  do result = fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)length);
  while (result < 0 && errno == EINTR);
#else
  // Darwin punches whole blocks only (`man 2 fcntl`, F_PUNCHHOLE); what stands before the first is written.
  enum { block = 16384 };
  static const char zeros[block];
  uint64_t end = (offset + length + block - 1) / block * block;
  size_t head = (size_t)((block - offset % block) % block);
  if (head > 0 && pwrite(descriptor, zeros, head, (off_t)offset) != (ssize_t)head) return -EIO;
  if (offset + head >= end) return 0;
  struct fpunchhole range = {0, 0, (off_t)(offset + head), (off_t)(end - offset - head)};
  do result = fcntl(descriptor, F_PUNCHHOLE, &range);
  while (result < 0 && errno == EINTR);
#endif
  return result < 0 ? -errno : 0;
}

struct varve_listing {
  DIR *stream;
};

int varve_listing_open(int directory, varve_listing **listing) {
  // A descriptor of its own: a stream takes its descriptor over and moves its position.
  int descriptor = varve_openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (descriptor < 0) return descriptor;
  DIR *stream = fdopendir(descriptor);
  varve_listing *made = stream == NULL ? NULL : malloc(sizeof *made);
  if (made == NULL) {
    int failure = errno;
    if (stream != NULL) closedir(stream);
    else close(descriptor);
    return -failure;
  }
  made->stream = stream;
  *listing = made;
  return 0;
}

const char *varve_listing_next(varve_listing *listing, int *failure) {
  errno = 0;
  struct dirent *entry = readdir(listing->stream);
  *failure = entry == NULL ? -errno : 0;
  return entry == NULL ? NULL : entry->d_name;
}

void varve_listing_close(varve_listing *listing) {
  closedir(listing->stream);
  free(listing);
}

void varve_describe_error(int number, char *text, size_t length) {
  if (length == 0) return;
  text[0] = 0;
#if defined(__GLIBC__)
  // The GNU form may answer with a constant instead of filling the buffer.
  const char *words = strerror_r(number, text, length);
  if (words != text) snprintf(text, length, "%s", words);
#else
  strerror_r(number, text, length);
#endif
}
