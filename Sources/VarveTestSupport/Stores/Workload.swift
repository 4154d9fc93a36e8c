package import VarveLog

/// Batches that follow from a seed and the sequence of the commit alone: whoever knows how far a store has come knows
/// all that it must hold.
package struct Workload: Sendable {
  private let seed: UInt64
  private let idCount: UInt64
  private let bodyLengthMax: Int

  /// A workload over so many IDs, which lie in two entities.
  package init(seed: UInt64, idCount: UInt64 = 24, bodyLengthMax: Int = 160) {
    self.seed = seed
    self.idCount = idCount
    self.bodyLengthMax = bodyLengthMax
  }

  /// What the commit with this sequence does: one to six operations, at times several on one record.
  package func operations(at sequence: CommitSequence) -> [RecordOperation] {
    var generator = SplitMix64(seed: seed &+ sequence.rawValue &* 0x2545_F491_4F6C_DD1D)
    return (0..<Int.random(in: 1...6, using: &generator)).map { _ in
      let number = UInt64.random(in: 0..<idCount, using: &generator)
      let id = RecordID(entity: UInt16(1 + number % 2), serial: number / 2)
      if Int.random(in: 0..<4, using: &generator) == 0 { return .delete(id) }
      return .put(id, body(for: id, sequence, &generator))
    }
  }

  /// Bytes that tell which record and commit they belong to; one in sixteen long and compressible, one empty.
  private func body(
    for id: RecordID, _ sequence: CommitSequence, _ generator: inout SplitMix64
  ) -> [UInt8] {
    let kind = Int.random(in: 0..<16, using: &generator)
    if kind == 0 { return [] }
    let text = Array("record \(id) of commit \(sequence) ".utf8)
    if kind == 1 { return (0..<40 * text.count).map { text[$0 % text.count] } }
    return text + generator.bytes(Int.random(in: 0...bodyLengthMax, using: &generator))
  }
}
