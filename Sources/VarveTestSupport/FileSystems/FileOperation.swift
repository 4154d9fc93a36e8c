/// One call through the file-system seam.
package struct FileOperation: Sendable {
  /// The kinds of call.
  package enum Kind: String, CaseIterable, Sendable {
    /// ``FileSystem/openDirectory(at:)`` and ``Directory/openDirectory(_:)``
    case openDirectory = "open folder"
    /// ``FileSystem/createDirectory(at:)`` and ``Directory/createDirectory(_:)``
    case createDirectory = "create folder"
    /// ``Directory/list()``
    case list
    /// ``Directory/openFile(_:for:)``
    case open
    /// ``Directory/createFile(_:)``
    case create
    /// ``Directory/rename(_:to:)``
    case rename
    /// ``Directory/link(_:into:as:)``
    case link
    /// ``Directory/remove(_:)``
    case remove
    /// ``Directory/sync()``
    case syncDirectory = "sync folder"
    /// ``Directory/lock(_:)``
    case lock
    /// ``Directory/isLocked(_:)``
    case probeLock = "probe lock"
    /// ``DirectoryLock/describe(_:)``
    case describeLock = "describe lock"
    /// ``DirectoryLock/unlock()``
    case unlock
    /// ``File/size()``
    case size
    /// ``File/read(into:at:)``
    case read
    /// ``File/write(_:at:)``
    case write
    /// ``File/setSize(_:)``
    case setSize = "set size"
    /// ``File/sync()``
    case sync
    /// ``File/map(length:for:)``
    case map
    /// ``File/close()``
    case close
    /// ``FileMapping/store(_:at:)``
    case store
    /// ``FileMapping/storeWord(_:at:)``
    case storeWord = "store word"

    /// Whether the call can fail: not so for stores and what gives something back.
    package var canFail: Bool {
      switch self {
      case .unlock, .close, .store, .storeWord: false
      default: true
      }
    }
  }

  /// What was called.
  package let kind: Kind
  /// The file or folder that it was about.
  package let path: String
  /// The other arguments, as a trace shows them.
  package let detail: String

  /// Makes an operation.
  package init(_ kind: Kind, _ path: String, _ detail: String = "") {
    self.kind = kind
    self.path = path
    self.detail = detail
  }
}
