import Foundation

/// An open store of the engine under measurement. Functions end the process when the engine reports an error.
protocol BenchmarkEngine: Sendable {
  /// A session for one thread, whose commits are on the device when they return, or at least survive a kill of the
  /// process.
  func makeSession(isDurable: Bool) -> any BenchmarkSession
  /// What an application calls once a second, if the engine needs it.
  func maintain()
  /// Waits for work in the background.
  func settle()
  /// Compacts everything, and returns when that is done. No session is open.
  func compact()
  /// Closes cleanly. No session is open.
  func close()
}

/// What one thread does with an engine.
protocol BenchmarkSession: AnyObject {
  /// Begins a transaction of so many operations.
  func begin(_ operationCount: Int)
  /// Puts a value. `isAppending` says that the ID is new and above all others.
  func put(_ id: UInt64, _ value: UnsafeRawBufferPointer, isAppending: Bool)
  func remove(_ id: UInt64)
  func commit()
  /// Reads a value, within the snapshot if there is one, and looks at all of it. Returns whether it is there and right.
  func get(_ id: UInt64, _ sum: inout UInt64) -> Bool
  /// Reads several values from one state. Returns how many are there and right.
  func getMany(_ ids: UnsafeBufferPointer<UInt64>, _ sum: inout UInt64) -> Int
  func beginSnapshot()
  func endSnapshot()
  /// Reads all records in the order of their IDs. Returns how many are right.
  func scan(_ sum: inout UInt64) -> Int
}

/// Ends the process with a sentence.
func fail(_ reason: String) -> Never {
  printError("bench: \(reason)")
  exit(1)
}

/// Gives the result of something that must not fail.
func must<Result: ~Copyable>(_ what: String, _ body: () throws -> Result) -> Result {
  do { return try body() } catch { fail("\(what) failed: \(error)") }
}
