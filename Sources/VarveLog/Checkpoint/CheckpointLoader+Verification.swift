import Synchronization

extension CheckpointLoader {
  /// Files with more pieces than this are verified by two threads: what a thread costs to start is less than a
  /// millisecond's worth of bytes.
  private static let pieceCountOfOneThread = 32

  /// Compares every byte behind the header with its checksum.
  ///
  /// - Throws: `.corrupt` at a piece that is damaged, and what the file system throws.
  /// - Complexity: O(bytes of the file).
  static func verify(_ file: any File, _ header: CheckpointHeader) throws(StoreError) {
    let table = try file.bytes(at: header.checksumsOffset, count: header.pieceCount * 4)
    let checksum = unsafe table.withUnsafeBytes { unsafe CRC32C.checksum(seed: 0, of: $0) }
    guard table.count == header.pieceCount * 4, checksum == header.checksumOfChecksums else {
      throw damaged("its checksums are damaged")
    }
    let checksums = unsafe table.withUnsafeBytes { bytes in
      (0..<header.pieceCount).map { unsafe bytes.integer(at: $0 * 4, as: UInt32.self) }
    }
    let pieces = PieceVerification(file: file, header: header, checksums: checksums)
    var helper: ThreadExecutor?
    if checksums.count > pieceCountOfOneThread, let thread = try? ThreadExecutor(name: "varve-verify") {
      helper = thread
      thread.execute { pieces.run() }
    }
    pieces.run()
    helper?.stop()
    if let failure = pieces.failure { throw failure }
  }
}

/// The pieces of a checkpoint file that are still to be verified, by however many threads.
private final class PieceVerification: Sendable {
  private let file: any File
  private let header: CheckpointHeader
  private let checksums: [UInt32]
  private let next = Atomic(0)
  private let found = Guarded<StoreError?>(nil)

  init(file: any File, header: CheckpointHeader, checksums: [UInt32]) {
    self.file = file
    self.header = header
    self.checksums = checksums
  }

  /// The first failure that a thread met.
  var failure: StoreError? { found.withLock { $0 } }

  /// Verifies pieces until there are none left, or one is damaged.
  func run() {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: CheckpointHeader.pieceSize, alignment: 16)
    defer { unsafe buffer.deallocate() }
    while true {
      let number = next.add(1, ordering: .relaxed).oldValue
      guard number < checksums.count else { return }
      do throws(StoreError) {
        try unsafe verify(number, buffer)
      } catch {
        found.withLock { $0 = $0 ?? error }
        next.store(checksums.count, ordering: .relaxed)
        return
      }
    }
  }

  private func verify(_ number: Int, _ buffer: UnsafeMutableRawBufferPointer) throws(StoreError) {
    let range = header.piece(number)
    let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[0..<range.count])
    let count = try unsafe file.read(into: piece, at: range.lowerBound)
    let bytes = UnsafeRawBufferPointer(piece)
    guard count == range.count, unsafe CRC32C.checksum(seed: 0, of: bytes) == checksums[number] else {
      throw StoreError(
        .corrupt, "The checkpoint cannot be used: its bytes \(range.lowerBound) to \(range.upperBound) are damaged.",
        at: .init(offset: range.lowerBound))
    }
  }
}
