package import VarveLog

/// The files of a store with all their bytes: to be compared, damaged and put elsewhere.
///
/// The lock file and the live file are left out: their contents mean nothing to who opens the store next, and every
/// opening for writing replaces them.
package struct StoreImage: Hashable, Sendable {
  /// The bytes of each file by its path from the store's folder.
  package var files: [String: [UInt8]] = [:]

  /// An image without files.
  package init() {}

  /// Reads the store at `path`; the image is empty when there is no such folder.
  package init(of path: String, on fileSystem: any FileSystem) throws {
    let folder: any Directory
    do throws(StoreError) {
      folder = try fileSystem.openDirectory(at: path)
    } catch {
      if error.code == .notFound { return }
      throw error
    }
    for name in try folder.list() where name != StoreLayout.lock && name != StoreLayout.live {
      if name == StoreLayout.segmentFolder {
        let segments = try folder.openDirectory(name)
        for file in try segments.list() { files["\(name)/\(file)"] = try segments.contents(of: file) }
      } else {
        files[name] = try folder.contents(of: name)
      }
    }
  }

  /// Makes the folder `path`, if need be, and gives it exactly these files. Lock and live file stay if they are there.
  package func write(to path: String, on fileSystem: any FileSystem) throws {
    let folder = try StoreImage.folder(at: path, on: fileSystem)
    if try !folder.list().contains(StoreLayout.segmentFolder) { try folder.createDirectory(StoreLayout.segmentFolder) }
    let segments = try folder.openDirectory(StoreLayout.segmentFolder)
    let prefix = StoreLayout.segmentFolder + "/"
    for name in try segments.list() where files[prefix + name] == nil { try segments.remove(name) }
    for name in try folder.list()
    where ![StoreLayout.segmentFolder, StoreLayout.lock, StoreLayout.live].contains(name) && files[name] == nil {
      try folder.remove(name)
    }
    for (path, bytes) in files {
      if path.hasPrefix(prefix) {
        try segments.put(bytes, in: String(path.dropFirst(prefix.count)))
      } else {
        try folder.put(bytes, in: path)
      }
    }
  }

  private static func folder(at path: String, on fileSystem: any FileSystem) throws -> any Directory {
    do throws(StoreError) {
      return try fileSystem.openDirectory(at: path)
    } catch {
      guard error.code == .notFound else { throw error }
      try fileSystem.createDirectory(at: path)
      return try fileSystem.openDirectory(at: path)
    }
  }

  /// A file system in memory that holds this store, and nothing else, at `path`.
  package func fileSystem(at path: String = "store") throws -> MemoryFileSystem {
    let fileSystem = MemoryFileSystem()
    try write(to: path, on: fileSystem)
    return fileSystem
  }

  // MARK: Damage

  /// Inverts the bits of `mask` in one byte.
  package mutating func flip(_ path: String, at offset: Int, mask: UInt8 = 0xFF) {
    files[path]?[offset] ^= mask
  }

  /// Cuts a file off at `length`.
  package mutating func cut(_ path: String, to length: Int) {
    guard let bytes = files[path], length <= bytes.count else { return }
    files[path] = Array(bytes[..<length])
  }

  /// Puts `bytes` over what a file has from `offset` on. The file grows as needed, with zeros before `offset`.
  package mutating func overwrite(_ path: String, at offset: Int, with bytes: [UInt8]) {
    var contents = files[path] ?? []
    let end = offset + bytes.count
    if contents.count < end { contents += repeatElement(0, count: end - contents.count) }
    contents.replaceSubrange(offset..<end, with: bytes)
    files[path] = contents
  }

  // MARK: Looking

  /// The manifest, if one of its bodies is whole.
  package var manifest: Manifest? {
    guard let bytes = files[StoreLayout.manifest],
      case .valid(let manifest, _) = unsafe bytes.withUnsafeBytes({ unsafe Manifest.decode($0) })
    else { return nil }
    return manifest
  }

  /// The paths of the segment files, in the order of their numbers.
  package var segmentPaths: [String] {
    files.keys.filter { $0.hasPrefix(StoreLayout.segmentFolder + "/") && !$0.hasSuffix(".checkpoint") }.sorted()
  }

  /// The paths of the checkpoint files, in the order of their numbers.
  package var checkpointPaths: [String] { files.keys.filter { $0.hasSuffix(".checkpoint") }.sorted() }

  /// What another image has different, one line for each file: nothing when both are equal byte by byte.
  package func differences(from other: StoreImage) -> [String] {
    Set(files.keys).union(other.files.keys).sorted().compactMap { path in
      switch (files[path], other.files[path]) {
      case (nil, _): return "\(path) is only in the other"
      case (_, nil): return "\(path) is not in the other"
      case (let bytes?, let others?):
        if bytes == others { return nil }
        let place = zip(bytes, others).enumerated().first { $1.0 != $1.1 }?.offset ?? min(bytes.count, others.count)
        return "\(path) differs from byte \(place) on (\(bytes.count) and \(others.count) bytes)"
      }
    }
  }
}
