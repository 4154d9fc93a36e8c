#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The writer's side of the live file: the mapping that positions are stored into.
///
/// Two threads store: whoever leads stores positions, whoever replaces the manifest stores its generation. Each has a
/// place of its own.
final class LiveMapping: Sendable {
  private let mapping: any FileMapping
  private let seed: UInt32

  private init(_ mapping: any FileMapping, seed: UInt32) {
    self.mapping = mapping
    self.seed = seed
  }

  /// Tells a position: a few stores into the mapping, and no call of the system.
  func store(_ position: LivePosition) {
    unsafe position.withEncoded(seed: seed) { bytes in
      unsafe mapping.store(bytes, at: LiveFile.offset(ofPosition: position.count))
    }
  }

  /// Tells the generation of a manifest that is durable.
  func store(manifestGeneration: UInt64) { mapping.storeWord(manifestGeneration, at: LiveFile.generationOffset) }

  /// Makes the live file of a store that was just opened for writing, or takes over the one of the writer before, fills
  /// it, and then locks it: readers believe what it says only while it is locked.
  ///
  /// The file is never exchanged for another or made shorter, since readers may be at it. On a full disk the store goes on
  /// without one: then readers read as far as the log goes.
  ///
  /// - Returns: `nil` when there is no room for it, or when readers never let go of it.
  /// - Throws: What the file system throws.
  static func open(
    in folder: any Directory, _ header: LiveHeader, _ position: LivePosition, manifestGeneration: UInt64
  ) throws(StoreError) -> (LiveMapping, any DirectoryLock)? {
    do throws(StoreError) {
      let file = try openFile(in: folder)
      defer { file.close() }
      let size = try file.size()
      if size < UInt64(LiveFile.size) {
        try file.write([UInt8](repeating: 0, count: LiveFile.size - Int(size)), at: size)
      }
      let live = LiveMapping(try file.map(length: LiveFile.size, for: .writing), seed: header.seed)
      live.fill(header, position, manifestGeneration)
      return try lock(folder).map { (live, $0) }
    } catch  where error.code == .diskFull {
      return nil
    }
  }

  /// Locks the file. A reader that looks whether it is locked has it for a moment.
  private static func lock(_ folder: any Directory) throws(StoreError) -> (any DirectoryLock)? {
    for attempt in 0..<lockAttemptCountMax {
      if let lock = try folder.lock(StoreLayout.live) { return lock }
      Sleep.sleep(for: .microseconds(50 * (attempt + 1)))
    }
    return nil
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

  /// The header comes last: until then its checksums say that nothing else counts.
  private func fill(_ header: LiveHeader, _ position: LivePosition, _ manifestGeneration: UInt64) {
    mapping.storeWord(0, at: 0)
    store(position)
    store(manifestGeneration: manifestGeneration)
    let bytes = header.encoded()
    unsafe bytes.span.bytes.withUnsafeBytes { bytes in
      unsafe mapping.store(UnsafeRawBufferPointer(rebasing: bytes[8...]), at: 8)
      unsafe mapping.storeWord(bytes.load(as: UInt64.self), at: 0)
    }
  }
}

/// What the writer has told readers in other processes. Belongs to whoever leads.
struct LivePublication {
  private let mapping: LiveMapping
  /// Held as long as readers may believe what stands there.
  private let lock: any DirectoryLock
  private var position: LivePosition

  init(_ mapping: LiveMapping, _ lock: any DirectoryLock, _ position: LivePosition) {
    self.mapping = mapping
    self.lock = lock
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
    lock.unlock()
  }
}

extension LogWriter {
  /// Begins to tell readers in other processes how far the log is.
  mutating func openLive() throws(StoreError) {
    let manifest = context.manifests.current
    let header = LiveHeader(
      storeUUID: manifest.storeUUID, session: context.newSalt(), timeMicroseconds: context.timeMicroseconds,
      processID: getpid(), processName: SystemCalls.programName)
    let position = LivePosition(count: 0, published: end, durable: durable, stage: .open)
    let opened = try LiveMapping.open(
      in: context.folder, header, position, manifestGeneration: manifest.generation)
    guard let (mapping, lock) = opened else { return }
    live = LivePublication(mapping, lock, position)
    context.manifests.tellGenerations(to: mapping)
  }

  /// Lets readers in other processes see everything that was appended. Right in front of each publication within the
  /// process, so that what anybody here has seen, they see as well, and under no lock.
  @inline(__always)
  mutating func publishLive() { live?.publish(end, durable: durable) }
}
