#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The writer's side of the live file: what positions are stored into.
///
/// Two threads store: whoever leads stores positions, whoever replaces the manifest stores its generation. Each has a
/// place of its own.
///
/// Stores go into a mapping where the file system promises to take them, and are written where it does not: there a
/// store into a mapping can find the disk full, which ends the process with a signal, while a write that fails is an
/// error. Then nothing more is told, and the lock of the file is given back, so that nobody believes what stands there.
final class LiveMapping: Sendable {
  private enum Target: Sendable {
    case mapping(any FileMapping)
    case file(any File)
  }

  private let target: Target
  private let seed: UInt32
  /// Held as long as readers may believe what stands there; `nil` before that, and for good afterwards.
  private let lock = Guarded<(any DirectoryLock)?>(nil)

  private init(_ target: Target, seed: UInt32) {
    self.target = target
    self.seed = seed
  }

  deinit { if case .file(let file) = target { file.close() } }

  /// Tells a position. Into a mapping that is a few stores, and no call of the system.
  func store(_ position: LivePosition) {
    unsafe position.withEncoded(seed: seed) { bytes in
      let offset = LiveFile.offset(ofPosition: position.count)
      switch target {
      case .mapping(let mapping):
        // The checksum comes last, in one piece and behind the rest.
        let last = bytes.count - 8
        unsafe mapping.store(UnsafeRawBufferPointer(rebasing: bytes[..<last]), at: offset)
        unsafe mapping.storeWord(bytes.integer(at: last), at: offset + last)
      case .file(let file): unsafe write(bytes, at: offset, to: file)
      }
    }
  }

  /// Tells the generation of a manifest that is durable.
  func store(manifestGeneration: UInt64) {
    switch target {
    case .mapping(let mapping): mapping.storeWord(manifestGeneration, at: LiveFile.generationOffset)
    case .file(let file):
      var word = manifestGeneration.littleEndian
      unsafe withUnsafeBytes(of: &word) { unsafe write($0, at: LiveFile.generationOffset, to: file) }
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int, to file: any File) {
    // What is not locked is believed by nobody, and may be another writer's.
    guard lock.withLock({ $0 != nil }) else { return }
    do throws(StoreError) { try unsafe file.write(bytes, at: UInt64(offset)) } catch { unlock() }
  }

  /// Ends that readers believe what stands there. A second call does nothing.
  func unlock() { lock.withLock { $0.take() }?.unlock() }

  /// Makes the live file of a store that was just opened for writing, or takes over the one of the writer before, fills
  /// it, and then locks it: readers believe what it says only while it is locked.
  ///
  /// The file is never exchanged for another or made shorter, since readers may be at it.
  ///
  /// - Throws: What the file system throws, and `.locked` when readers never let go of the file. The store is as good
  ///   without one: then readers read as far as the log goes.
  static func open(
    in folder: any Directory, _ header: LiveHeader, _ position: LivePosition, manifestGeneration: UInt64
  ) throws(StoreError) -> LiveMapping {
    let file = try openFile(in: folder)
    var isKept = false
    defer { if !isKept { file.close() } }
    // Written also where it is mapped later, and to its end: so that no store into the mapping needs room any more.
    let seed = header.seed
    try file.write(contents(header, position, seed, manifestGeneration), at: 0)
    isKept = !file.prefersMappedStores
    let live = LiveMapping(
      isKept ? .file(file) : .mapping(try file.map(length: LiveFile.size, for: .writing)), seed: seed)
    let lock = try takeLock(folder)
    live.lock.withLock { $0 = lock }
    return live
  }

  /// Locks the file. A reader that looks whether it is locked may have it for a moment.
  private static func takeLock(_ folder: any Directory) throws(StoreError) -> any DirectoryLock {
    for attempt in 0..<lockAttemptCountMax {
      if let lock = try folder.lock(StoreLayout.live) { return lock }
      Sleep.sleep(for: .microseconds(50 * (attempt + 1)))
    }
    throw StoreError(
      .locked, "The live file is locked by another process, which no program has a reason for.",
      at: .init(file: StoreLayout.live))
  }

  /// About a second in all.
  private static let lockAttemptCountMax = 200

  private static func openFile(in folder: any Directory) throws(StoreError) -> any File {
    do throws(StoreError) {
      return try folder.openFile(StoreLayout.live, for: .writing)
    } catch  where error.code == .notFound {
      return try folder.createFile(StoreLayout.live)
    }
  }

  /// The whole file, so that nothing stays of what the writer before left. A reader that sees a part of it sees checksums
  /// that do not fit, since those of the positions are seeded with the session.
  private static func contents(
    _ header: LiveHeader, _ position: LivePosition, _ seed: UInt32, _ manifestGeneration: UInt64
  ) -> [UInt8] {
    var contents = header.encoded()
    contents += [UInt8](repeating: 0, count: LiveFile.size - contents.count)
    unsafe contents.withUnsafeMutableBytes { bytes in
      unsafe position.withEncoded(seed: seed) { encoded in
        let offset = LiveFile.offset(ofPosition: position.count)
        unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).copyMemory(from: encoded)
      }
      unsafe bytes.setInteger(manifestGeneration, at: LiveFile.generationOffset)
    }
    return contents
  }
}

/// What the writer has told readers in other processes. Belongs to whoever leads.
struct LivePublication {
  private let mapping: LiveMapping
  private var position: LivePosition

  init(_ mapping: LiveMapping, _ position: LivePosition) {
    self.mapping = mapping
    self.position = position
  }

  /// Lets readers see the log up to `end`.
  @inline(__always)
  mutating func publish(_ end: LogPosition, durable: LogPosition) {
    position.count += 1
    position.published = end
    position.durable = durable
    mapping.store(position)
  }

  /// Says that nothing more comes. What was published stays as it is: behind it may stand what never became a commit.
  mutating func close(durable: LogPosition) {
    position.count += 1
    position.durable = max(position.durable, min(durable, position.published))
    position.stage = .closed
    mapping.store(position)
    mapping.unlock()
  }
}

extension LogWriter {
  /// Begins to tell readers in other processes how far the log is.
  ///
  /// - Returns: Why that cannot be: nothing that the store promises to this process depends on it, so that it goes on
  ///   without.
  mutating func openLive() -> StoreError? {
    let manifest = context.manifests.current
    let header = LiveHeader(
      storeUUID: manifest.storeUUID, session: context.newSalt(), timeMicroseconds: context.timeMicroseconds,
      processID: getpid(), processName: SystemCalls.programName)
    let position = LivePosition(count: 0, published: end, durable: durable, stage: .open)
    do throws(StoreError) {
      let mapping = try LiveMapping.open(
        in: context.folder, header, position, manifestGeneration: manifest.generation)
      live = LivePublication(mapping, position)
      context.manifests.tellGenerations(to: mapping)
      return nil
    } catch { return error }
  }

  /// Lets readers in other processes see everything that was appended. Right in front of each publication within the
  /// process, so that what anybody here has seen, they see as well, and under no lock.
  @inline(__always)
  mutating func publishLive() { live?.publish(end, durable: durable) }
}
