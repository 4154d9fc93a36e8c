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

  /// Orders by a property.
  public init<Value: Comparable & SendableMetatype>(
    _ path: any KeyPath<Object, Value> & Sendable, _ order: SortOrder = .forward
  ) {
    let sign = order.sign
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
    comparison = { objects in
      { left, right in descriptor.compare(objects[left], objects[right]).rawValue }
    }
  }
}

extension SortOrder {
  fileprivate var sign: Int { self == .forward ? 1 : -1 }
}
