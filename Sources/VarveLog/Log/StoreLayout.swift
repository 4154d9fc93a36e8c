/// The names of the files of a store.
package enum StoreLayout {
  /// The list of the store's files, at the top of the store's folder.
  package static let manifest = "manifest"
  /// A manifest in the making.
  package static let temporaryManifest = "manifest.new"
  /// The lock file: never removed, its contents mean nothing.
  package static let lock = "lock"
  /// How far the writer is, for readers in other processes.
  package static let live = "live"
  /// The folder of the segment and checkpoint files: one folder, so that one sync makes all their entries durable.
  package static let segmentFolder = "segments"

  /// The name of a segment file within its folder.
  package static func fileName(_ file: SegmentFile) -> String {
    let digits = String(file.id.rawValue)
    return String(repeating: "0", count: max(0, 16 - digits.count)) + digits + suffix(file.kind)
  }

  /// The path of a segment file from the store's folder, for messages.
  package static func path(_ file: SegmentFile) -> String { segmentFolder + "/" + fileName(file) }

  private static func suffix(_ kind: SegmentKind) -> String {
    switch kind {
    case .log: ".log"
    case .compacted: ".compacted"
    case .checkpoint: ".checkpoint"
    }
  }

  /// The numbered file that has this name, or `nil` if none has it.
  package static func segmentFile(named name: String) -> SegmentFile? {
    for kind in [SegmentKind.log, .compacted, .checkpoint] where name.hasSuffix(suffix(kind)) {
      guard let number = UInt64(name.dropLast(suffix(kind).count)) else { return nil }
      let file = SegmentFile(kind: kind, id: SegmentID(rawValue: number))
      return fileName(file) == name ? file : nil
    }
    return nil
  }
}

/// A numbered file of a store, by what names it: a segment, or a checkpoint.
package struct SegmentFile: Hashable, Sendable {
  /// Log, compacted or checkpoint.
  package var kind: SegmentKind
  /// The number; all kinds share one sequence of numbers.
  package var id: SegmentID

  /// Names a numbered file.
  package init(kind: SegmentKind, id: SegmentID) {
    self.kind = kind
    self.id = id
  }
}
