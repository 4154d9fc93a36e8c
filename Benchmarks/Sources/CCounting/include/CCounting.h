/// Counts allocations by taking the place of the C library's functions.
///
/// The Swift runtime's own function pointers are not used: in this runtime a retain of a small string fails as soon as
/// one of them is replaced.
#pragma once
#include <stdint.h>

/// How many times this thread has allocated. A thread counts for itself, so that work in the background of an engine
/// does not make the figures of its caller depend on chance.
uint64_t counting_allocations(void);
