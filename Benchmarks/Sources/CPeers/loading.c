#include <dlfcn.h>

#include "Peer.h"

const peer_interface *peer_load(const char *path, const char *name, const char **problem) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    *problem = dlerror();
    return NULL;
  }
  const peer_interface *(*find)(const char *) = (const peer_interface *(*)(const char *))dlsym(library, "varve_peer");
  const peer_interface *found = find == NULL ? NULL : find(name);
  if (found == NULL || found->interface_version != PEER_INTERFACE_VERSION) {
    *problem = "it was built for another version of the benchmarks";
    return NULL;
  }
  return found;
}
