package import VarveLog

/// A file system in memory that remembers what was synced, and shows what a loss of power could leave of the rest.
///
/// The rules are those of a journalling file system at its worst: of the bytes that a file got since its last sync any
/// part may be lost, in blocks of 512 bytes and whatever their order; so may its size; of the changes of a folder since
/// its last sync each may be lost, but a rename happens as a whole or not at all. After a sync of a file that failed
/// (``failSync(at:)``) the blocks that it did not bring to the device count as clean: no later sync brings them there,
/// unless they are written again.
package struct PowerLossFileSystem: FileSystem {
  private let base: MemoryFileSystem
  private let journal = Journal()

  /// Makes an empty file system.
  package init(prefersMappedStores: Bool = true) {
    base = MemoryFileSystem(prefersMappedStores: prefersMappedStores)
  }

  /// A file system that holds the files of a store at `path`, all of them synced.
  package init(_ image: StoreImage, at path: String = "store") throws {
    self.init(prefersMappedStores: true)
    try image.write(to: path, on: self)
    let folder = try openDirectory(at: path)
    let segments = try folder.openDirectory(StoreLayout.segmentFolder)
    for (folder, names) in [(folder, try folder.list()), (segments, try segments.list())] {
      for name in names where name != StoreLayout.segmentFolder {
        try folder.openFile(name, for: .reading).sync()
      }
      try folder.sync()
    }
    try openDirectory(at: ".").sync()
  }

  /// Opens the folder at `path`, of components without `..`.
  package func openDirectory(at path: String) throws(StoreError) -> any Directory {
    PowerLossDirectory(try base.openDirectory(at: path), path: Journal.normal(path), journal: journal)
  }

  /// Makes the folder at `path`, of components without `..`.
  package func createDirectory(at path: String) throws(StoreError) {
    try base.createDirectory(at: path)
    let (parent, name) = Journal.split(Journal.normal(path))
    journal.note(in: parent, [(name, .folder)])
  }

  /// Lets the `number`-th sync of a file from now on fail, counted from 1.
  package func failSync(at number: Int) { journal.failSync(at: number) }

  /// What is left of the store at `path` after a loss of power now.
  ///
  /// - Parameter survival: Which of the changes survive that were not synced.
  package func image(_ survival: Survival, of path: String = "store") throws -> StoreImage {
    try journal.image(of: Journal.normal(path), survival)
  }
}

extension PowerLossFileSystem {
  /// Which changes survive that were not synced.
  package enum Survival: Sendable {
    /// No entry of a folder or all, no byte of a file or all.
    case extreme(entries: Bool, bytes: Bool)
    /// Each block of a file, each size and each change of a folder by chance.
    case chance(seed: UInt64)

    /// The four extremes.
    package static let extremes: [Survival] = [
      .extreme(entries: false, bytes: false), .extreme(entries: false, bytes: true),
      .extreme(entries: true, bytes: false), .extreme(entries: true, bytes: true),
    ]
  }
}

/// What is in the folders and files, and what of it is on the device.
private final class Journal: Sendable {
  enum Entry: Equatable {
    case folder
    case file(Int)
  }

  /// One step: entries that are set, or removed when there is none.
  typealias Change = [(name: String, entry: Entry?)]

  struct Folder {
    var durable: [String: Entry] = [:]
    var pending: [Change] = []

    var current: [String: Entry] {
      pending.reduce(into: durable) { entries, change in for (name, entry) in change { entries[name] = entry } }
    }
  }

  struct Contents {
    /// To read the contents with, whatever the file's names.
    let handle: any File
    /// What is on the device.
    var durable: [UInt8] = []
    /// Blocks that count as clean since a failed sync, as they were then.
    var lost: [Int: [UInt8]] = [:]
  }

  struct State {
    var folders: [String: Folder] = [:]
    var files: [Contents] = []
    /// The syncs of files until one fails.
    var syncsUntilFailure: Int?
  }

  static let blockSize = 512

  private let state = Guarded(State())

  static func normal(_ path: String) -> String {
    path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
  }

  static func split(_ path: String) -> (parent: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return ("", path) }
    return (String(path[..<slash]), String(path[path.index(after: slash)...]))
  }

  func note(in folder: String, _ change: Change) {
    state.withLock { $0.folders[folder, default: Folder()].pending.append(change) }
  }

  func noteRename(in folder: String, _ source: String, to target: String) {
    state.withLock { state in
      let moved = state.folders[folder]?.current[source]
      state.folders[folder, default: Folder()].pending.append([(target, moved), (source, nil)])
    }
  }

  func noteCreation(in folder: String, _ name: String, handle: any File) -> Int {
    state.withLock { state in
      let number = state.files.count
      state.files.append(Contents(handle: handle))
      state.folders[folder, default: Folder()].pending.append([(name, .file(number))])
      return number
    }
  }

  func number(in folder: String, _ name: String) -> Int? {
    state.withLock { state in
      guard case .file(let number) = state.folders[folder]?.current[name] else { return nil }
      return number
    }
  }

  func didSync(folder: String) {
    state.withLock { state in
      guard let contents = state.folders[folder] else { return }
      state.folders[folder] = Folder(durable: contents.current)
    }
  }

  func failSync(at number: Int) { state.withLock { $0.syncsUntilFailure = number } }

  /// Whether the next sync of a file is to fail.
  func countSync() -> Bool {
    state.withLock { state in
      guard let left = state.syncsUntilFailure else { return false }
      state.syncsUntilFailure = left > 1 ? left - 1 : nil
      return left == 1
    }
  }

  func didWrite(file number: Int, _ range: Range<Int>) {
    guard !range.isEmpty else { return }
    state.withLock { state in
      for block in range.lowerBound / Self.blockSize...(range.upperBound - 1) / Self.blockSize {
        state.files[number].lost[block] = nil
      }
    }
  }

  func didFailSync(file number: Int, contents: [UInt8]) {
    state.withLock { state in
      let durable = state.files[number].durable
      for block in 0..<(contents.count + Self.blockSize - 1) / Self.blockSize {
        let bytes = Self.block(block, of: contents)
        if bytes != Self.block(block, of: durable) { state.files[number].lost[block] = bytes }
      }
    }
  }

  func didSync(file number: Int, contents: [UInt8]) {
    state.withLock { state in
      var durable = contents
      for (block, bytes) in state.files[number].lost {
        if Self.block(block, of: contents) == bytes {
          let old = Self.block(block, of: state.files[number].durable)
          let start = block * Self.blockSize
          let end = min(start + Self.blockSize, durable.count)
          durable.replaceSubrange(
            start..<end, with: (old + repeatElement(0, count: Self.blockSize)).prefix(end - start))
        } else {
          state.files[number].lost[block] = nil
        }
      }
      state.files[number].durable = durable
    }
  }

  private static func block(_ number: Int, of bytes: [UInt8]) -> [UInt8] {
    Array(bytes[min(number * blockSize, bytes.count)..<min((number + 1) * blockSize, bytes.count)])
  }

  func image(of path: String, _ survival: PowerLossFileSystem.Survival) throws -> StoreImage {
    var image = StoreImage()
    var generator = SplitMix64(seed: 0)
    if case .chance(let seed) = survival { generator = SplitMix64(seed: seed) }
    let (parent, name) = Journal.split(path)
    let state = self.state.withLock { $0 }
    guard survivors(state.folders[parent], survival, &generator)[name] == .folder else { return image }
    var folders = [path]
    while let folder = folders.popLast() {
      for (name, entry) in survivors(state.folders[folder], survival, &generator).sorted(by: { $0.key < $1.key })
      where name != StoreLayout.lock && name != StoreLayout.live {
        let place = "\(folder)/\(name)"
        switch entry {
        case .folder: folders.append(place)
        case .file(let number):
          let file = state.files[number]
          image.files[String(place.dropFirst(path.count + 1))] = blend(
            file.durable, try file.handle.contents(), survival, &generator)
        }
      }
    }
    return image
  }

  private func survivors(
    _ folder: Folder?, _ survival: PowerLossFileSystem.Survival, _ generator: inout SplitMix64
  ) -> [String: Entry] {
    guard var folder else { return [:] }
    switch survival {
    case .extreme(let keepsEntries, _): if !keepsEntries { folder.pending = [] }
    case .chance: folder.pending = folder.pending.filter { _ in Bool.random(using: &generator) }
    }
    return folder.current
  }

  private func blend(
    _ durable: [UInt8], _ current: [UInt8], _ survival: PowerLossFileSystem.Survival, _ generator: inout SplitMix64
  ) -> [UInt8] {
    switch survival {
    case .extreme(_, let keepsBytes): return keepsBytes ? current : durable
    case .chance:
      if durable == current { return current }
      let length = Bool.random(using: &generator) ? current.count : durable.count
      var result: [UInt8] = []
      while result.count < length {
        let source = Bool.random(using: &generator) ? current : durable
        let end = min(result.count + 512, length)
        let piece = source[min(result.count, source.count)..<min(end, source.count)]
        result += piece + repeatElement(0, count: end - result.count - piece.count)
      }
      return result
    }
  }
}

private final class PowerLossDirectory: Directory {
  private let base: any Directory
  private let place: String
  private let journal: Journal

  init(_ base: any Directory, path: String, journal: Journal) {
    self.base = base
    place = path
    self.journal = journal
  }

  var path: String { base.path }
  var identity: FileIdentity { base.identity }

  func list() throws(StoreError) -> [String] { try base.list() }

  func openDirectory(_ name: String) throws(StoreError) -> any Directory {
    PowerLossDirectory(
      try base.openDirectory(name), path: place.isEmpty ? name : "\(place)/\(name)", journal: journal)
  }

  func createDirectory(_ name: String) throws(StoreError) {
    try base.createDirectory(name)
    journal.note(in: place, [(name, .folder)])
  }

  func openFile(_ name: String, for access: FileAccess) throws(StoreError) -> any File {
    let file = try base.openFile(name, for: access)
    return PowerLossFile(file, number: journal.number(in: place, name), journal: journal)
  }

  func createFile(_ name: String) throws(StoreError) -> any File {
    let file = try base.createFile(name)
    let number = journal.noteCreation(in: place, name, handle: try base.openFile(name, for: .reading))
    return PowerLossFile(file, number: number, journal: journal)
  }

  func rename(_ source: String, to target: String) throws(StoreError) {
    try base.rename(source, to: target)
    journal.noteRename(in: place, source, to: target)
  }

  func link(_ name: String, into folder: any Directory, as newName: String) throws(StoreError) {
    preconditionFailure("stores make no second names, so that their loss is not modelled")
  }

  func remove(_ name: String) throws(StoreError) {
    try base.remove(name)
    journal.note(in: place, [(name, nil)])
  }

  func sync() throws(StoreError) {
    try base.sync()
    journal.didSync(folder: place)
  }

  func availableByteCount() throws(StoreError) -> UInt64? { try base.availableByteCount() }

  func lock(_ name: String) throws(StoreError) -> (any DirectoryLock)? { try base.lock(name) }

  func isLocked(_ name: String) throws(StoreError) -> Bool { try base.isLocked(name) }

  func lockDescription(_ name: String) -> String? { base.lockDescription(name) }
}

private final class PowerLossFile: File {
  private let base: any File
  private let number: Int?
  private let journal: Journal

  init(_ base: any File, number: Int?, journal: Journal) {
    self.base = base
    self.number = number
    self.journal = journal
  }

  var path: String { base.path }
  var prefersMappedStores: Bool { base.prefersMappedStores }
  func size() throws(StoreError) -> UInt64 { try base.size() }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
    try unsafe base.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    try unsafe base.write(bytes, at: offset)
    if let number { journal.didWrite(file: number, Int(offset)..<Int(offset) + bytes.count) }
  }

  func setSize(_ size: UInt64) throws(StoreError) { try base.setSize(size) }

  func sync() throws(StoreError) {
    let contents = try base.bytes(at: 0, count: Int(base.size()))
    if journal.countSync() {
      if let number { journal.didFailSync(file: number, contents: contents) }
      throw StoreError(SystemError.inputOutput, cannot: "sync", path)
    }
    try base.sync()
    if let number { journal.didSync(file: number, contents: contents) }
  }

  func map(length: Int, for access: FileAccess) throws(StoreError) -> any FileMapping {
    try base.map(length: length, for: access)
  }

  func close() { base.close() }
}
