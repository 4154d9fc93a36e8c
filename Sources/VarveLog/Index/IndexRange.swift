/// A range of the keys of one index, compared byte by byte, a shorter key before the longer ones that start with it.
public struct IndexRange: Hashable, Sendable {
  /// One end of a range.
  public enum Bound: Hashable, Sendable {
    /// The first or last key of the index.
    case unbounded
    /// This key and everything on the range's side of it.
    case inclusive([UInt8])
    /// Everything on the range's side of this key.
    case exclusive([UInt8])
  }

  /// Where the range starts.
  public var lower: Bound
  /// Where the range ends. A range that ends before it starts is empty.
  public var upper: Bound

  /// Makes a range from its ends.
  public init(lower: Bound = .unbounded, upper: Bound = .unbounded) {
    self.lower = lower
    self.upper = upper
  }

  /// Every key of the index.
  public static let all = IndexRange()

  /// One key.
  public static func key(_ key: [UInt8]) -> IndexRange { IndexRange(lower: .inclusive(key), upper: .inclusive(key)) }

  /// The keys that start with `prefix`.
  public static func prefix(_ prefix: [UInt8]) -> IndexRange {
    var successor = prefix
    while successor.last == 0xFF { successor.removeLast() }
    guard let last = successor.popLast() else { return IndexRange(lower: .inclusive(prefix), upper: .unbounded) }
    successor.append(last + 1)
    return IndexRange(lower: .inclusive(prefix), upper: .exclusive(successor))
  }
}
