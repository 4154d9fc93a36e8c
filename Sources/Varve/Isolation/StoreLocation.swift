public import Foundation

/// Where a store is: a `URL`, a path, or ``StoreLocation/inMemory``.
public protocol StoreLocation: Sendable {
  /// The path of the store's folder; `nil` for a store in memory.
  var storePath: String? { get }
}

extension URL: StoreLocation {
  /// The path of a file URL.
  public var storePath: String? { path(percentEncoded: false) }
}

extension String: StoreLocation {
  /// The text itself.
  public var storePath: String? { self }
}

/// The place of a store that ends with its container. It runs the same engine, on files in memory.
public struct MemoryLocation: StoreLocation {
  /// `nil`.
  public var storePath: String? { nil }
}

extension StoreLocation where Self == MemoryLocation {
  /// In memory: for previews and tests.
  public static var inMemory: MemoryLocation { MemoryLocation() }
}
