/// Folders and files that live in memory and are gone with the last object that refers to them.
///
/// A store on it runs the same engine as one on disk. Syncs do nothing, so a commit with `.disk` promises no more than
/// that the bytes are there. It is no cache of a folder on disk, and other processes cannot see it.
///
/// ```swift
/// let store = try LogStore.open(at: "memory", fileSystem: MemoryFileSystem())
/// ```
public struct MemoryFileSystem: FileSystem {
  private let volume: MemoryVolume
  private let root: MemoryFolder

  /// Makes an empty file system. Copies of it share their contents.
  public init() { self.init(prefersMappedStores: true) }

  /// Makes an empty file system whose files have room for `capacity` bytes together: what would take more fails with
  /// `.diskFull`. The room of a file comes back when no name, open file or mapping refers to it any more.
  public init(capacity: UInt64) { self.init(prefersMappedStores: true, capacity: capacity) }

  /// Makes an empty file system whose files say that they want to be written through mappings or through calls.
  package init(prefersMappedStores: Bool, capacity: UInt64? = nil) {
    volume = MemoryVolume(prefersMappedStores: prefersMappedStores, capacity: capacity)
    root = MemoryFolder(identity: volume.makeIdentity())
  }

  /// Opens the folder at `path`, which must exist. A path without components is the root, which always exists.
  public func openDirectory(at path: String) throws(StoreError) -> any Directory {
    do throws(SystemError) {
      return MemoryDirectory(try folder(at: Self.components(of: path)), on: volume, path: path)
    } catch { throw StoreError(error, cannot: "open the folder", path) }
  }

  /// Makes the folder at `path`; its parent must exist.
  public func createDirectory(at path: String) throws(StoreError) {
    do throws(SystemError) {
      let components = Self.components(of: path)
      guard let name = components.last else { throw .exists }
      let parent = try folder(at: components.dropLast())
      try parent.insert(.folder(MemoryFolder(identity: volume.makeIdentity())), as: name)
    } catch { throw StoreError(error, cannot: "make the folder", path) }
  }

  private func folder(at components: some Sequence<String>) throws(SystemError) -> MemoryFolder {
    var folder = root
    for name in components { folder = try folder.folder(name) }
    return folder
  }

  /// The names along the path from the root. There are no links, so that `..` undoes the name before it.
  private static func components(of path: String) -> [String] {
    var components: [String] = []
    for name in path.split(separator: "/") where name != "." {
      if name == ".." { _ = components.popLast() } else { components.append(String(name)) }
    }
    return components
  }
}
