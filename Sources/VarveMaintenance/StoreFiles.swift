import VarveLog

/// The files of a store, by their paths from its folder, with their sizes in bytes. Left out are files of others, and the
/// lock file, whose size says how long somebody's process number is.
struct StoreFiles {
  private(set) var sizes: [String: UInt64] = [:]

  /// Looks at the folder. What vanishes meanwhile, since a program is at work, is not there.
  init(at path: String, _ fileSystem: any FileSystem, without strangers: [String] = []) throws(StoreError) {
    let folder = try fileSystem.openDirectory(at: path)
    let own = [StoreLayout.manifest, StoreLayout.temporaryManifest]
    for name in try folder.list() where own.contains(name) { try add(name, named: name, in: folder) }
    let segments = try folder.openDirectory(StoreLayout.segmentFolder)
    for name in try segments.list() {
      let path = StoreLayout.segmentFolder + "/" + name
      guard StoreLayout.segmentFile(named: name) != nil, !strangers.contains(path) else { continue }
      try add(path, named: name, in: segments)
    }
  }

  private mutating func add(_ path: String, named name: String, in folder: any Directory) throws(StoreError) {
    do throws(StoreError) {
      sizes[path] = try folder.openFile(name, for: .reading).size()
    } catch  where error.code == .notFound {
      // Removed since it was listed.
    }
  }

  /// The bytes of all of them.
  var byteCount: UInt64 { sizes.values.reduce(0, +) }
}
