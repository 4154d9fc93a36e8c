import Foundation
import Synchronization

/// The function that the runtime calls for each object that it allocates, as a C function.
private typealias Allocate = @convention(c) (UnsafeRawPointer?, Int, Int) -> UnsafeMutableRawPointer?

private let originalAddress = Atomic<UInt>(0)
private let countedThread = Atomic<UInt>(0)
private let allocationCount = Atomic<Int>(0)

private func countAllocation(_ metadata: UnsafeRawPointer?, _ size: Int, _ mask: Int) -> UnsafeMutableRawPointer? {
  if UInt(pthread_self()) == countedThread.load(ordering: .relaxed) { allocationCount.add(1, ordering: .relaxed) }
  let original = unsafe unsafeBitCast(originalAddress.load(ordering: .relaxed), to: Allocate.self)
  return unsafe original(metadata, size, mask)
}

/// Counts the objects that a thread allocates, through the function pointer that Swift's runtime calls for each.
enum AllocationCounter {
  /// The number of objects that `work` allocates on its thread. For processes in which nothing else runs.
  static func count(_ work: () throws -> Void) rethrows -> Int {
    guard let symbol = unsafe dlsym(nil, "_swift_allocObject") else {
      preconditionFailure("this Swift runtime does not export _swift_allocObject")
    }
    let address = unsafe symbol.assumingMemoryBound(to: UInt.self)
    let counting: Allocate = unsafe countAllocation
    originalAddress.store(unsafe address.pointee, ordering: .sequentiallyConsistent)
    allocationCount.store(0, ordering: .sequentiallyConsistent)
    countedThread.store(UInt(pthread_self()), ordering: .sequentiallyConsistent)
    unsafe address.pointee = unsafe unsafeBitCast(counting, to: UInt.self)
    defer { unsafe address.pointee = originalAddress.load(ordering: .sequentiallyConsistent) }
    try work()
    return allocationCount.load(ordering: .sequentiallyConsistent)
  }
}
