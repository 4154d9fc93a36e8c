#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a backup did.
public struct BackupReport: Equatable, Sendable {
  /// The last commit in the backup.
  public var sequence = CommitSequence.zero
  /// Segments and checkpoints that the backup shares with the store, as second names of the same files, and their bytes.
  public var linkedCount = 0
  /// Bytes of the shared files. They take no room as long as the store has them as well.
  public var linkedByteCount: UInt64 = 0
  /// Segments and checkpoints that were copied.
  public var copiedCount = 0
  /// Bytes that were copied.
  public var copiedByteCount: UInt64 = 0

  /// Makes an empty report.
  public init() {}
}

/// Copies a store as it was after one commit into a new folder, where it is a store that was closed after that commit.
///
/// A file that has been a segment is never written again, so that full segments need no copy: they get a second name.
/// Where the file system has no second names, or the backup lies on another one, they are copied. The segment in which
/// the log ends is always copied, up to the end. The manifest comes last, so that what was left behind by an interruption
/// is refused as no store.
struct StoreBackup {
  /// What is to be copied.
  struct Source {
    /// Where the segments are.
    var segmentFolder: any Directory
    /// The list of exactly the segments that are to be in the backup.
    var manifest: Manifest
    /// The log segment that takes frames, which is to be copied.
    var active: SegmentFile?
    /// Where the log ends.
    var end: LogPosition
  }

  private let folder: any Directory
  private let segmentFolder: any Directory
  private var made: [String] = []
  private(set) var report = BackupReport()

  /// Makes the folders of a backup at `path`, which must not exist.
  init(at path: String, on fileSystem: any FileSystem) throws(StoreError) {
    let parent = StoreOpener(path: path, options: StoreOptions(), fileSystem: fileSystem).parentPath
    do throws(StoreError) {
      try fileSystem.createDirectory(at: path)
    } catch  where error.code == .alreadyExists {
      throw StoreError(
        .alreadyExists, "A backup cannot be made at \(path), since something is there. Name a path that is free.",
        at: .init(file: path), cause: error)
    } catch  where error.code == .notFound {
      throw StoreError(
        .notFound, "A backup cannot be made at \(path), since the folder \(parent) does not exist. Make it first.",
        at: .init(file: path), cause: error)
    }
    try fileSystem.openDirectory(at: parent).sync()
    folder = try fileSystem.openDirectory(at: path)
    try folder.createDirectory(StoreLayout.segmentFolder)
    segmentFolder = try folder.openDirectory(StoreLayout.segmentFolder)
  }

  /// Copies everything and makes it durable.
  ///
  /// - Throws: `.notFound` when a segment is gone, which a program that compacts may have removed: then nothing is left
  ///   but the empty folders, and another attempt may follow. What the file system throws.
  mutating func run(_ source: Source) throws(StoreError) {
    report = BackupReport()
    report.sequence = source.end.sequence
    do throws(StoreError) {
      for segment in source.manifest.segments {
        let end = segment.file == source.active ? source.end.offset : nil
        try add(segment.file, from: source.segmentFolder, through: end)
      }
      var source = source
      try addCheckpoints(&source)
      try segmentFolder.sync()
      try folder.sync()
      try writeManifest(source)
    } catch {
      // Without a manifest it is no store, but its files may take room that the store needs.
      for name in made { try? segmentFolder.remove(name) }
      made = []
      throw error
    }
  }

  /// Checkpoints are never written again either. One that was replaced meanwhile is left out.
  private mutating func addCheckpoints(_ source: inout Source) throws(StoreError) {
    for checkpoint in source.manifest.checkpoints {
      do throws(StoreError) {
        try add(checkpoint.file, from: source.segmentFolder, through: nil)
      } catch  where error.code == .notFound {
        source.manifest.checkpoints.removeAll { $0 == checkpoint }
      }
    }
  }

  private mutating func add(
    _ file: SegmentFile, from source: any Directory, through end: UInt64?
  ) throws(StoreError) {
    let name = StoreLayout.fileName(file)
    let file = try source.openFile(name, for: .reading)
    defer { file.close() }
    made.append(name)
    if end == nil, try link(name, from: source) {
      // The store may not have needed it on the device yet.
      try file.sync()
      report.linkedCount += 1
      report.linkedByteCount += try file.size()
      return
    }
    let length = if let end { end } else { try file.size() }
    let copy = try segmentFolder.createFile(name)
    defer { copy.close() }
    try StoreBackup.copy(file, to: copy, count: length)
    try copy.sync()
    report.copiedCount += 1
    report.copiedByteCount += length
  }

  /// Gives the file a second name in the backup, if the file systems are one and can do that.
  private func link(_ name: String, from source: any Directory) throws(StoreError) -> Bool {
    do throws(StoreError) {
      try source.link(name, into: segmentFolder, as: name)
      return true
    } catch {
      // `man 2 link`: another file system; one without second names; too many of them already.
      let isImpossible = [EXDEV, EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(error.systemErrorNumber ?? 0)
      guard isImpossible else { throw error }
      return false
    }
  }

  private static func copy(_ source: any File, to target: any File, count: UInt64) throws(StoreError) {
    var place: UInt64 = 0
    while place < count {
      let piece = try source.bytes(at: place, count: Int(min(1 << 18, count - place)))
      guard !piece.isEmpty else {
        throw StoreError(
          .corrupt, "The segment is shorter than the log that it holds.", at: .init(file: source.path, offset: place))
      }
      try target.write(piece, at: place)
      place += UInt64(piece.count)
    }
  }

  /// The manifest of a store that was closed.
  private func writeManifest(_ source: Source) throws(StoreError) {
    let manifests = ManifestStore(source.manifest, folder: folder, segmentFolder: segmentFolder)
    do throws(WriteFailure) {
      try manifests.replace(provenEnd: source.end) { manifest in
        manifest.closedEnd = source.end
        manifest.preparing = []
        manifest.removable = []
      }
    } catch { throw error.error }
  }
}

// MARK: - From a store that is open

extension LogWriter {
  /// What a backup of the store as it is now would copy. Everything in it is on the device.
  mutating func backupSource() throws(StoreError) -> StoreBackup.Source {
    try checkIsUsable()
    try noting { writer throws(WriteFailure) in try writer.settleAndSync() }
    var manifest = context.manifests.current
    LogWriter.seal(filled, in: &manifest)
    let active = self.active.map { SegmentFile(kind: .log, id: $0.id) }
    // What was prepared and holds nothing is no part of it.
    manifest.segments.removeAll { !$0.isSealed && $0.file != active }
    return StoreBackup.Source(segmentFolder: context.segmentFolder, manifest: manifest, active: active, end: end)
  }
}

extension LogStore {
  /// Makes a backup of the open store in a new folder, while everything goes on: the store as it is after one commit,
  /// with every commit that was acknowledged before the call. The backup is a store that was closed; open it, or copy it
  /// to where it is needed.
  ///
  /// Full segments are given a second name (a hard link) and not copied, if `path` is on the same file system; what the
  /// store does later does not change them. At the end every byte of the backup is read and verified. Blocks its thread
  /// for the time of that, but no commit for longer than a sync.
  ///
  /// - Parameter path: Where the backup is to be; nothing may be there, and its parent must exist.
  /// - Throws: `.readOnly`, `.closed`, `.poisoned`; `.alreadyExists`, `.notFound`, `.permissionDenied` and `.diskFull`
  ///   for the new folder; `.corrupt` when the backup, and so the store, is damaged: it is left for a look; what the
  ///   file system throws. After an error without damage only empty folders may be left.
  @discardableResult
  public func backUp(
    to path: String, on fileSystem: any FileSystem = PosixFileSystem()
  ) throws(StoreError) -> BackupReport {
    let committer = try writable()
    var backup = try StoreBackup(at: path, on: fileSystem)
    // Until it has them all, compactions may not remove files.
    context.removals.hold()
    defer { for file in context.removals.release() { context.remove(file) } }
    let source = try committer.queue.withTurn { writer throws(StoreError) in try writer.backupSource() }
    try backup.run(source)
    try LogStore.verifyBackup(at: path, on: fileSystem)
    return backup.report
  }

  /// Makes a backup of a store that is closed, or that another program has open, in a new folder. As
  /// ``backUp(to:on:)``, but the log is read to find its end, and the store is only read.
  ///
  /// - Throws: As there, and as a read-only opening.
  @discardableResult
  public static func backUp(
    storeAt path: String, to target: String, on fileSystem: any FileSystem = PosixFileSystem()
  ) throws(StoreError) -> BackupReport {
    var source = try backupSource(path, fileSystem)
    var backup = try StoreBackup(at: target, on: fileSystem)
    var attempts = 1
    while true {
      do throws(StoreError) {
        try backup.run(source)
        break
      } catch  where error.code == .notFound && attempts < backupAttemptCountMax {
        // A program compacted the store meanwhile: what is gone stands elsewhere now.
        attempts += 1
        source = try backupSource(path, fileSystem)
      }
    }
    try verifyBackup(at: target, on: fileSystem)
    return backup.report
  }

  private static let backupAttemptCountMax = 20

  private static func backupSource(
    _ path: String, _ fileSystem: any FileSystem
  ) throws(StoreError) -> StoreBackup.Source {
    var options = StoreOptions()
    options.isReadOnly = true
    let found = try StoreOpener(path: path, options: options, fileSystem: fileSystem).open()
    let log = found.log
    var manifest = log.manifest
    var active: SegmentFile?
    manifest.segments.removeAll { log.abandoned.contains($0.file) }
    for segment in log.chain {
      guard let listed = manifest.segment(segment.file.id) else { continue }
      // The manifest can name the end of a full segment before the writer has published the last commits in it: for the
      // backup it is the one in which the log ends.
      let isCut = listed.isSealed && segment.end < listed.logicalEnd
      if listed.isSealed && !isCut { continue }
      if segment.file == log.chain.last?.file { active = segment.file }
      let isFull = segment.file != active
      manifest.updateSegment(segment.file.id) { listed in
        if !isFull {
          listed.isSealed = false
          listed.logicalEnd = 0
          listed.firstSequence = .zero
          listed.lastSequence = .zero
          return
        }
        listed.isSealed = true
        listed.logicalEnd = segment.end
        listed.firstSequence = segment.firstSequence
        listed.lastSequence = segment.lastSequence
      }
    }
    return StoreBackup.Source(
      segmentFolder: found.segmentFolder, manifest: manifest, active: active, end: log.end)
  }

  private static func verifyBackup(at path: String, on fileSystem: any FileSystem) throws(StoreError) {
    var damage: VerificationFinding?
    try verify(at: path, fileSystem: fileSystem) { finding in
      if finding.severity != .note, damage == nil { damage = finding }
    }
    guard let damage else { return }
    throw StoreError(
      .corrupt,
      "The backup \(path) was made and is damaged: \(damage.message). It shares its files with the store, so that this "
        + "is damaged as well; verify both.", at: damage.location)
  }
}
