/// The seam between the engine and the system: everything that the engine asks of files goes through here, so that
/// tests can crash, fail and record it.
///
/// Every implementation must pass the conformance suite `FileSystemConformance` of the tests. All calls may block
/// their thread. All errors are ``StoreError`` with the path in `location.file` and `errno` where there is one:
/// `ENOENT` → `.notFound`, `EEXIST` → `.alreadyExists`, `EACCES`, `EPERM` and `EROFS` → `.permissionDenied`,
/// `ENOSPC` and `EDQUOT` → `.diskFull`, all else → `.ioFailure`. `EINTR` and short counts are dealt with inside.
public protocol FileSystem: Sendable {
  /// Opens the folder at `path`, which must exist.
  func openDirectory(at path: String) throws(StoreError) -> any Directory
  /// Makes the folder at `path`; its parent must exist.
  ///
  /// Durable only after ``Directory/sync()`` of the parent.
  func createDirectory(at path: String) throws(StoreError)
}

/// An open folder. All names are single path components, resolved against the open folder and not against a path, so
/// that a folder that was moved while open is still the same folder.
public protocol Directory: AnyObject, Sendable {
  /// The path under which the folder was opened: for messages only.
  var path: String { get }
  /// Which folder this is, whatever the path: device and inode, or their like.
  var identity: FileIdentity { get }
  /// The names in the folder, without `.` and `..`, in no particular order.
  func list() throws(StoreError) -> [String]
  /// Opens the folder `name`, which must exist.
  func openDirectory(_ name: String) throws(StoreError) -> any Directory
  /// Makes the folder `name`. Durable only after ``sync()``.
  func createDirectory(_ name: String) throws(StoreError)
  /// Opens the regular file `name`, which must exist. Anything but a regular file is refused, links are not followed.
  func openFile(_ name: String, for access: FileAccess) throws(StoreError) -> any File
  /// Makes the file `name`, which must not exist (`O_EXCL`), with mode 0600, or 0660 in a folder that its group may
  /// write, for reading and writing. The entry is durable only after ``sync()``, the contents only after ``File/sync()``.
  func createFile(_ name: String) throws(StoreError) -> any File
  /// Replaces `target` (which may exist) by `source`, at once. Durable only after ``sync()``.
  func rename(_ source: String, to target: String) throws(StoreError)
  /// Gives the file `name` a second name in another folder of the same file system. Durable after that folder's sync.
  func link(_ name: String, into folder: any Directory, as newName: String) throws(StoreError)
  /// Removes the file `name`. Open files and mappings of it stay usable. Durable only after ``sync()``.
  func remove(_ name: String) throws(StoreError)
  /// Makes every change of the folder's entries so far durable. After a failure nothing is known of any of them.
  func sync() throws(StoreError)
  /// The bytes that files on this file system may still take, as far as this user is concerned; `nil` when that is not
  /// known, or without limit. Others may use them at any moment, so that a write can meet a full disk all the same.
  func availableByteCount() throws(StoreError) -> UInt64?
  /// Takes the exclusive advisory lock on the file `name`, which is made if need be and never removed, without
  /// waiting. Ends when the lock object goes, or when the process dies. Returns `nil` when somebody else holds it.
  /// A second attempt in the same process is refused as well.
  func lock(_ name: String) throws(StoreError) -> (any DirectoryLock)?
  /// Whether somebody holds the lock on the file `name`, be it this process. Makes no file and holds nothing afterwards;
  /// whoever wants the lock at this very moment may be refused, and has to try again.
  func isLocked(_ name: String) throws(StoreError) -> Bool
  /// What the holder of the lock wrote about itself (``DirectoryLock/describe(_:)``), for messages only. Never
  /// trusted; at most 256 bytes are read. `nil` when there is nothing.
  func lockDescription(_ name: String) -> String?
}

/// A lock that is held. It ends with ``unlock()`` or with the object.
public protocol DirectoryLock: AnyObject, Sendable {
  /// Replaces the contents of the lock file by `text`, for the message that others get.
  func describe(_ text: String) throws(StoreError)
  /// Gives the lock back. A second call does nothing.
  func unlock()
}

/// What a file is opened for.
public enum FileAccess: Sendable {
  /// Reading only.
  case reading
  /// Reading and writing.
  case writing
}

/// Which file or folder something is, independent of its names.
public struct FileIdentity: Hashable, Sendable {
  /// The device, or its like.
  public var device: UInt64
  /// The inode, or its like.
  public var node: UInt64
  /// Makes an identity.
  public init(device: UInt64, node: UInt64) {
    self.device = device
    self.node = node
  }
}

/// An open file. Closes with ``close()`` or with the object; mappings outlive it.
public protocol File: AnyObject, Sendable {
  /// The path under which the file was opened: for messages only.
  var path: String { get }
  /// Whether stores into mappings are as good as writes on the file system that the file is on. If not, the log is
  /// written with ``write(_:at:)``.
  var prefersMappedStores: Bool { get }
  /// Whether the log is grown on a thread of its own, ahead of commits. By default it is not, so that the calls of a
  /// store come in an order that can be repeated.
  var prefersGrowthAhead: Bool { get }
  /// The size in bytes.
  func size() throws(StoreError) -> UInt64
  /// Reads into `buffer` from byte `offset` on. Returns the number of bytes, which is smaller than the buffer only
  /// at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int
  /// Writes all of `bytes` at byte `offset`, growing the file if need be. Durable only after ``sync()``.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError)
  /// Cuts or extends (with zeros) the file to `size` bytes. Durable only after ``sync()``.
  func setSize(_ size: UInt64) throws(StoreError)
  /// Makes the contents and the size durable (`fdatasync`), stores into mappings included. After a failure nothing
  /// is known of any write since the last success, and another attempt proves nothing.
  func sync() throws(StoreError)
  /// Maps `length` bytes from the start of the file, which may be more than the file has: bytes behind the end of the
  /// file must not be touched until the file has grown over them.
  func map(length: Int, for access: FileAccess) throws(StoreError) -> any FileMapping
  /// Closes the file. A second call does nothing. Mappings stay valid.
  func close()
}

extension File {
  /// Not asked for.
  public var prefersGrowthAhead: Bool { false }
}

/// A part of a file in memory. Unmapped when the object goes.
public protocol FileMapping: AnyObject, Sendable {
  /// The first byte. Valid as long as the object lives.
  var baseAddress: UnsafeRawPointer { get }
  /// The number of bytes that are mapped.
  var length: Int { get }
  /// Copies `bytes` to byte `offset` of the mapping, which must have been mapped for writing and lie within the
  /// file. Other mappings and reads see the bytes at once. Durable only after the file's ``File/sync()``.
  func store(_ bytes: UnsafeRawBufferPointer, at offset: Int)
  /// Stores eight bytes at `offset`, a multiple of eight, in one piece and after all earlier stores (release).
  func storeWord(_ word: UInt64, at offset: Int)
  /// Makes bytes ready to be stored into, so that the first store is as fast as the next. May do nothing; changes no
  /// byte. They must have been mapped for writing and lie within the file.
  func prepareStores(_ range: Range<Int>)
}

extension FileMapping {
  /// Does nothing.
  public func prepareStores(_ range: Range<Int>) {}
}
