public import Foundation

/// One rule by which fetched objects are put in order.
///
/// ```swift
/// FetchRequest(where: .all, sortBy: [Sort(\.expiryDate), Sort(\Food.name, .reverse)])
/// ```
///
/// Objects that all rules call equal stand in the order of their IDs, so that the same objects are always in the same
/// order. Where a value is missing it counts as less than all others.
public struct Sort<Object: EntityClass>: Sendable {
  /// Compares two of the objects that it was made for, by their positions: negative, zero or positive.
  package typealias Comparison = (Int, Int) -> Int

  /// Reads what is needed of the objects, once, and compares them by that.
  package let comparison: @Sendable (ContiguousArray<Object>) -> Comparison

  /// The property, when its order is that of the stored values; then these can be compared without the objects.
  package let storedPath: (any AnyKeyPath & Sendable)?

  /// Whether the greatest comes first.
  package let isReversed: Bool

  /// Orders by a property.
  public init<Value: Comparable & SendableMetatype>(
    _ path: any KeyPath<Object, Value> & Sendable, _ order: SortOrder = .forward
  ) {
    let sign = order.sign
    storedPath = StoredOrder.isThat(of: Value.self) ? path : nil
    isReversed = order == .reverse
    comparison = { objects in
      let keys = objects.map { $0[keyPath: path] }
      return { left, right in
        keys[left] < keys[right] ? -sign : keys[right] < keys[left] ? sign : 0
      }
    }
  }

  /// Orders by a property that may be missing.
  public init<Value: Comparable & SendableMetatype>(
    _ path: any KeyPath<Object, Value?> & Sendable, _ order: SortOrder = .forward
  ) {
    let sign = order.sign
    storedPath = StoredOrder.isThat(of: Value.self) ? path : nil
    isReversed = order == .reverse
    comparison = { objects in
      let keys = objects.map { $0[keyPath: path] }
      return { left, right in
        switch (keys[left], keys[right]) {
        case (nil, nil): 0
        case (nil, _?): -sign
        case (_?, nil): sign
        case (let left?, let right?): left < right ? -sign : right < left ? sign : 0
        }
      }
    }
  }

  /// Orders as Foundation's descriptor does.
  public init(_ descriptor: SortDescriptor<Object>) {
    storedPath = nil
    isReversed = descriptor.order == .reverse
    comparison = { objects in
      { left, right in descriptor.compare(objects[left], objects[right]).rawValue }
    }
  }
}

extension SortOrder {
  fileprivate var sign: Int { self == .forward ? 1 : -1 }
}

/// Which types compare as what is stored of them does. An enumeration need not: its order is its own.
private enum StoredOrder {
  static func isThat<Value>(of type: Value.Type) -> Bool {
    types.contains(ObjectIdentifier(type))
  }

  private static let types: Set<ObjectIdentifier> = [
    ObjectIdentifier(Int.self), ObjectIdentifier(Int8.self), ObjectIdentifier(Int16.self), ObjectIdentifier(Int32.self),
    ObjectIdentifier(Int64.self), ObjectIdentifier(UInt.self), ObjectIdentifier(UInt8.self),
    ObjectIdentifier(UInt16.self), ObjectIdentifier(UInt32.self), ObjectIdentifier(UInt64.self),
    ObjectIdentifier(Float.self), ObjectIdentifier(Double.self), ObjectIdentifier(Date.self),
    ObjectIdentifier(String.self),
  ]
}
