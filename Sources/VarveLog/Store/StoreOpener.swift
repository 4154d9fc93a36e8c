#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The first phase of opening: folder, lock, manifest, log. Writes nothing but what makes a new store, and removes
/// nothing but files that the manifest lists for removal.
struct StoreOpener {
  let path: String
  let options: StoreOptions
  let fileSystem: any FileSystem

  /// Everything that opening found.
  struct Found {
    var folder: any Directory
    var segmentFolder: any Directory
    var lock: (any DirectoryLock)?
    var log: RecoveredLog
    var builder: StateBuilder
    var segmentFileNames: [String]
    /// Who had the store open meanwhile; for a read-only opening.
    var beside = Beside.nobody
    /// What opened it.
    var opener: StoreOpener
  }

  func open() throws(StoreError) -> Found {
    try options.validate()
    let folder = try openFolder()
    // Before the lock file is made: a folder that is somebody else's must stay as it is.
    if try !folder.list().contains(StoreLayout.manifest) { try checkIsUnused(folder) }
    let lock = options.isReadOnly ? nil : try takeLock(folder)
    if options.isReadOnly { return try readBesideWriter(folder) }
    let existing = try readManifest(folder)
    let (manifest, usedSingleBody) = if let existing { existing } else { try createStore(folder) }
    var found = try read(folder, manifest, lock)
    found.log.report.usedSingleManifestBody = usedSingleBody
    try removeListedFiles(found)
    return found
  }

  // MARK: Folder and lock

  private func openFolder() throws(StoreError) -> any Directory {
    do throws(StoreError) {
      return try fileSystem.openDirectory(at: path)
    } catch  where error.code == .notFound && options.createsIfMissing && !options.isReadOnly {
      return try createFolder()
    } catch  where error.code == .notFound {
      throw StoreError(
        .notFound, "There is no store at \(path). Check the path, or open it so that a store is made.",
        at: .init(file: path), systemErrorNumber: error.systemErrorNumber, cause: error)
    }
  }

  private func createFolder() throws(StoreError) -> any Directory {
    do throws(StoreError) {
      try fileSystem.createDirectory(at: path)
    } catch  where error.code == .notFound {
      throw StoreError(
        .notFound,
        "The store \(path) cannot be made, since the folder \(parentPath) does not exist. Make that folder first.",
        at: .init(file: path), systemErrorNumber: error.systemErrorNumber, cause: error)
    } catch  where error.code == .alreadyExists {
      // Somebody else made it just now: the lock decides who goes on.
    }
    try fileSystem.openDirectory(at: parentPath).sync()
    return try fileSystem.openDirectory(at: path)
  }

  /// The folder that the store stands in.
  var parentPath: String {
    var end = path.endIndex
    while end > path.startIndex, path[path.index(before: end)] == "/" { end = path.index(before: end) }
    guard let slash = path[..<end].lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private func takeLock(_ folder: any Directory) throws(StoreError) -> any DirectoryLock {
    var waited = 0
    while true {
      if let lock = try folder.lock(StoreLayout.lock) {
        // Only for the message that others get, so that it does not matter if it fails.
        try? lock.describe("PID \(getpid()) (\(SystemCalls.programName))")
        return lock
      }
      guard waited < options.lockWaitMilliseconds else { break }
      usleep(5000)
      waited += 5
    }
    let holder = folder.lockDescription(StoreLayout.lock) ?? "another process"
    throw StoreError(
      .locked,
      "The store \(path) is open for writing already, locked by \(holder). Close it there, or open it read-only here.",
      at: .init(file: path))
  }

  // MARK: Manifest

  /// The manifest and whether only one of its bodies is whole; `nil` when there is no store yet.
  func readManifest(_ folder: any Directory) throws(StoreError) -> (Manifest, Bool)? {
    let file: any File
    do throws(StoreError) {
      file = try folder.openFile(StoreLayout.manifest, for: .reading)
    } catch  where error.code == .notFound {
      try checkIsUnused(folder)
      return nil
    }
    defer { file.close() }
    let size = try file.size()
    guard size <= UInt64(Manifest.fileSizeMax) else { throw damagedManifest("it has \(size) bytes") }
    let bytes = try file.bytes(at: 0, count: Int(size))
    switch unsafe bytes.withUnsafeBytes({ unsafe Manifest.decode($0) }) {
    case .valid(let manifest, let bothBodies): return (manifest, !bothBodies)
    case .newer(let version): throw StoreError.newerFormat(version, file: StoreLayout.manifest)
    case .invalid: throw damagedManifest("both of its bodies are damaged")
    }
  }

  private func damagedManifest(_ reason: String) -> StoreError {
    StoreError(
      .corrupt,
      "The manifest of the store \(path) is damaged: \(reason). Nothing was changed. Restore the store from a backup.",
      at: .init(file: StoreLayout.manifest, offset: 0))
  }

  /// Throws unless the folder, which has no manifest, holds nothing of anybody's.
  private func checkIsUnused(_ folder: any Directory) throws(StoreError) {
    let names = try folder.list()
    try checkHoldsNoStrangers(names)
    if names.contains(StoreLayout.segmentFolder) {
      let segments = try folder.openDirectory(StoreLayout.segmentFolder).list()
      // Whoever makes the store just now may have come further since the folder was listed.
      if let segment = segments.first, try !folder.list().contains(StoreLayout.manifest) {
        throw StoreError(
          .corrupt,
          "The store \(path) has segments, \(segment) for one, but no manifest. Nothing was changed. "
            + "Restore the store from a backup.", at: .init(file: StoreLayout.manifest))
      }
    }
    if options.isReadOnly || !options.createsIfMissing {
      throw StoreError(.notFound, "There is no store at \(path): the folder is empty.", at: .init(file: path))
    }
  }

  /// Throws when names of a folder without a manifest are not those of a store.
  private func checkHoldsNoStrangers(_ names: [String]) throws(StoreError) {
    let ours: Set = [
      StoreLayout.lock, StoreLayout.live, StoreLayout.temporaryManifest, StoreLayout.segmentFolder,
    ]
    guard !names.contains(StoreLayout.manifest), let stranger = names.first(where: { !ours.contains($0) }) else {
      return
    }
    throw StoreError(
      .notAStore,
      "\(path) is not a store: it has no manifest, and it holds other things, such as \(stranger). "
        + "Nothing was changed; choose another path.", at: .init(file: path))
  }

  /// Makes an empty store: its first manifest is durable before the first segment exists, and the folder itself before
  /// that, whether it was made just now or by a process that was killed behind it.
  private func createStore(_ folder: any Directory) throws(StoreError) -> (Manifest, Bool) {
    try syncParent()
    do throws(StoreError) {
      try folder.createDirectory(StoreLayout.segmentFolder)
    } catch  where error.code == .alreadyExists {
      // An earlier process came this far.
    }
    try folder.sync()
    var generator = SaltGenerator(seed: options.randomSeed)
    let manifest = Manifest(new: .random(using: &generator))
    let segmentFolder = try folder.openDirectory(StoreLayout.segmentFolder)
    let store = ManifestStore(manifest, folder: folder, segmentFolder: segmentFolder)
    do throws(WriteFailure) { try store.writeInitial() } catch { throw error.error }
    return (manifest, false)
  }

  private func syncParent() throws(StoreError) {
    let parent: any Directory
    do throws(StoreError) {
      parent = try fileSystem.openDirectory(at: parentPath)
    } catch  where error.code == .permissionDenied {
      // Somebody made the folder for us in a place that we may not look into: then its entry is theirs to keep.
      return
    }
    try parent.sync()
  }

  // MARK: Log

  func read(
    _ folder: any Directory, _ manifest: Manifest, _ lock: (any DirectoryLock)?, through limit: LogPosition? = nil,
    withCheckpoints: Bool = true
  ) throws(StoreError) -> Found {
    let segmentFolder: any Directory
    do throws(StoreError) {
      segmentFolder = try folder.openDirectory(StoreLayout.segmentFolder)
    } catch  where error.code == .notFound {
      throw StoreError(
        .corrupt, "The store \(path) has no folder of segments. Nothing was changed. Restore it from a backup.",
        at: .init(file: StoreLayout.segmentFolder), cause: error)
    }
    var (log, builder) = try readLog(
      folder, segmentFolder, manifest, through: limit, withCheckpoints: withCheckpoints && options.usesCheckpoints)
    builder.state.verifiesEveryRead = options.verifiesEveryRead
    builder.state.sequence = log.end.sequence
    let names = try segmentFolder.list()
    log.report.unlistedFiles = try unlistedFiles(folder, manifest, names)
    return Found(
      folder: folder, segmentFolder: segmentFolder, lock: lock, log: log, builder: builder, segmentFileNames: names,
      opener: self)
  }

  private func unlistedFiles(
    _ folder: any Directory, _ manifest: Manifest, _ segmentFileNames: [String]
  ) throws(StoreError) -> [String] {
    let listed = Set(
      (manifest.segments.map(\.file) + manifest.preparing + manifest.removable + manifest.checkpoints.map(\.file))
        .map(StoreLayout.fileName))
    let ours: Set = [
      StoreLayout.manifest, StoreLayout.temporaryManifest, StoreLayout.lock, StoreLayout.live,
      StoreLayout.segmentFolder,
    ]
    let strangers = segmentFileNames.filter { !listed.contains($0) }.map { StoreLayout.segmentFolder + "/" + $0 }
    return (strangers + (try folder.list()).filter { !ours.contains($0) }).sorted()
  }

  /// Removes what the manifest as read lists as preparing or removable, once that manifest is surely on the device.
  private func removeListedFiles(_ found: Found) throws(StoreError) {
    let manifest = found.log.manifest
    let files = manifest.preparing + manifest.removable
    guard !files.isEmpty else { return }
    try found.folder.sync()
    try found.segmentFolder.sync()
    for file in files {
      do throws(StoreError) {
        try found.segmentFolder.remove(StoreLayout.fileName(file))
      } catch  where error.code == .notFound {}
    }
  }
}
