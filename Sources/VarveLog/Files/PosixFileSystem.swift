/// The files of the system, by POSIX calls.
///
/// Everything in a folder is reached relative to the folder's descriptor; links are not followed, descriptors are not
/// inherited by other programs. It assumes a local file system on which `fdatasync` tells the truth.
public struct PosixFileSystem: FileSystem {
  /// Makes the file system. All are the same.
  public init() {}

  /// Opens the folder at `path`, which must exist. Links in the path are followed.
  public func openDirectory(at path: String) throws(StoreError) -> any Directory {
    do throws(SystemError) {
      try Self.checkPath(path)
      return try PosixDirectory(owning: SystemCalls.openDirectory(at: path), path: path)
    } catch { throw StoreError(error, cannot: "open the folder", path) }
  }

  /// Makes the folder at `path` with mode 0700.
  public func createDirectory(at path: String) throws(StoreError) {
    do throws(SystemError) {
      try Self.checkPath(path)
      try SystemCalls.createDirectory(at: path)
    } catch { throw StoreError(error, cannot: "make the folder", path) }
  }

  /// A zero byte would end the path early and name something else.
  private static func checkPath(_ path: String) throws(SystemError) {
    if path.utf8.contains(0) { throw .invalid }
  }
}
