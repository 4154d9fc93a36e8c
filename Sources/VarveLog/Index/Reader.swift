/// Reads the newest state of a store, again and again, at the lowest cost: it keeps a snapshot and looks at one number
/// to see whether that is still the newest, so that a read takes no lock and no reference.
///
/// Not Sendable: each thread, task or actor makes its own. A reader that is not used pins the snapshot that it read
/// last; ``release()`` lets that go.
public final class Reader {
  private let published: PublishedState
  private var current: Snapshot?

  init(_ published: PublishedState) { self.published = published }

  /// A snapshot of the newest state.
  ///
  /// - Complexity: O(1); without a lock when nothing was committed since the last call.
  @inline(__always)
  public var snapshot: Snapshot {
    if let current, current.version == published.version { return current }
    let snapshot = published.snapshot()
    current = snapshot
    return snapshot
  }

  /// Hands the record's header and body to `body`. See ``Snapshot/read(_:_:)``.
  ///
  /// - Throws: `.corrupt` when the record is damaged, and what `body` throws.
  @inline(__always)
  public func read<Result>(
    _ id: RecordID, _ body: (RecordHeader, RawSpan) throws -> Result
  ) throws -> Result? { try snapshot.readNewest(id, body) }

  /// Hands the records of many IDs to `body`. See ``Snapshot/read(_:_:)-(Span<RecordID>,_)``.
  ///
  /// - Throws: `.corrupt` at the first damaged record, and what `body` throws.
  @inline(__always)
  public func read(_ ids: Span<RecordID>, _ body: (Int, RecordHeader, RawSpan) throws -> Void) throws {
    try snapshot.readNewest(ids, body)
  }

  /// Lets the snapshot go, until the next read.
  public func release() { current = nil }
}

@available(*, unavailable)
extension Reader: Sendable {}
