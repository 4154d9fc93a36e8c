package import VarveLog

/// Every damage of a store that is tried: bytes inverted, words set to the numbers that break lengths, files cut.
package struct DamagePlan: Sendable {
  /// One damage.
  package struct Case: Equatable, Sendable {
    /// Where it is.
    package var damage: Damage
    /// The bytes that stand there instead; none for a cut.
    package var bytes: [UInt8]

    /// The image with this damage.
    package func applied(to image: StoreImage) -> StoreImage {
      var image = image
      switch damage {
      case .overwrite(let path, let offset, _): image.overwrite(path, at: offset, with: bytes)
      case .cut(let path, let length): image.cut(path, to: length)
      }
      return image
    }
  }

  /// What becomes of one byte.
  package static let masks: [UInt8] = [0x01, 0x80, 0xFF]
  /// What becomes of four aligned bytes, as little-endian numbers.
  package static let words: [UInt32] = [0xFFFF_FFFF, 0x7FFF_FFFF, 0x8000_0000]

  /// All of them.
  package private(set) var cases: [Case] = []

  /// Makes the plan for a store.
  ///
  /// - Parameters:
  ///   - stride: Only every so many of the places in a file are damaged; all, when it is 1.
  ///   - masks: What becomes of each byte.
  package init(for image: StoreImage, stride: Int = 1, masks: [UInt8] = DamagePlan.masks) {
    for (path, bytes) in image.files.sorted(by: { $0.key < $1.key }) {
      for offset in Swift.stride(from: 0, to: bytes.count, by: stride) {
        cases += masks.map { Case(damage: .overwrite(path, offset: offset, length: 1), bytes: [bytes[offset] ^ $0]) }
        cases.append(Case(damage: .cut(path, length: offset), bytes: []))
        let word = offset / 4 * 4
        guard offset % 4 == 0 || stride > 1, word + 4 <= bytes.count else { continue }
        for value in DamagePlan.words {
          let new = (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
          guard new != Array(bytes[word..<word + 4]) else { continue }
          cases.append(Case(damage: .overwrite(path, offset: word, length: 4), bytes: new))
        }
      }
    }
  }
}

/// Holds what comes of opening a damaged store against what the recovery table says.
package struct DamageJudge: Sendable {
  /// What came of it.
  package enum Outcome: Sendable {
    /// The store opened, and holds this.
    case opened(RecoveryReport, CommitSequence, [RecordID: StoredRecord])
    /// It was refused.
    case refused(StoreError)
  }

  /// How often each verdict was right.
  package struct Tally: Equatable, Sendable {
    /// The store opened with everything.
    package var wholeCount = 0
    /// The store opened without the commits behind a cut.
    package var cutCount = 0
    /// The store was refused.
    package var refusedCount = 0
    /// The store was opened from a checkpoint, and a record in front of it could not be read.
    package var unreadCount = 0

    /// A tally of nothing.
    package init() {}
  }

  private let sample: SampleStore
  private let oracle: DamageOracle
  /// How often each verdict was right so far.
  package private(set) var tally = Tally()

  /// Makes a judge for damages of a store.
  package init(_ sample: SampleStore) throws {
    self.sample = sample
    oracle = try DamageOracle(sample.image)
  }

  /// What is wrong with the outcome, or `nil` when it is as it must be.
  package mutating func objection(to outcome: Outcome, of damage: Damage) -> String? {
    let verdict = oracle.verdict(on: damage)
    switch (outcome, verdict) {
    case (.refused(let error), .refused(let place)):
      guard error.code == .corrupt, error.location.file == place.path, error.location.offset == UInt64(place.offset)
      else { return "\(damage): expected a refusal for \(place), found \(error)" }
      tally.refusedCount += 1
    case (.refused(let error), .opensAhead(let path)):
      guard error.code == .corrupt, error.location.file == path, error.location.record != nil else {
        return "\(damage): expected that a record cannot be read, found \(error)"
      }
      tally.unreadCount += 1
    case (.opened(let report, let sequence, let records), .opensAhead):
      guard sequence == sample.history.lastSequence, records == sample.history.current, report.checkpoint != nil else {
        return "\(damage): expected everything from a checkpoint, found \(report)"
      }
      tally.wholeCount += 1
    case (.opened(let report, let sequence, let records), .opens(let expected, let place)):
      guard sequence == expected else { return "\(damage): expected commits up to \(expected), found \(sequence)" }
      guard records == sample.history.state(after: sequence) else {
        return "\(damage): wrong values after commit \(sequence)"
      }
      let isUnusable = oracle.newestCheckpoint == damage.path
      let isToldOf =
        report.usedSingleManifestBody == (damage.path == StoreLayout.manifest)
        && report.unusableCheckpoints.map(\.file).contains(damage.path) == isUnusable
      let isCutThere =
        place == nil || report.cuts.isEmpty
        || report.cuts.contains { cut in
          cut.file == place?.path && cut.offset == UInt64(place?.offset ?? 0)
        }
      guard isToldOf, isCutThere else { return "\(damage): the report does not tell of it: \(report)" }
      if place == nil { tally.wholeCount += 1 } else { tally.cutCount += 1 }
    case (.refused(let error), _): return "\(damage): expected \(verdict), and it was refused: \(error)"
    case (.opened(_, let sequence, _), _):
      return "\(damage): expected \(verdict), and it was opened with commits up to \(sequence)"
    }
    return nil
  }
}
