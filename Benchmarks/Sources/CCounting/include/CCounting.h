/// Counts allocations by taking the place of the C library's functions.
///
/// The Swift runtime's own function pointers are not used: in this runtime a retain of a small string fails as soon as
/// one of them is replaced.
#pragma once
#include <stdint.h>

/// Begins to count.
void counting_begin(void);
/// Stops counting and returns the number of allocations since it began.
uint64_t counting_end(void);
