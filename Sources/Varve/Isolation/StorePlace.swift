import Foundation

/// What stands on disk where a store is or should be: for messages to whoever chose the path, since the system's own
/// words tell neither a file from a folder that is missing, nor a link that leads nowhere from nothing.
package enum StorePlace: Equatable, Sendable {
  /// Nothing, and the folder above is there.
  case free
  /// Nothing, and this folder is not there either.
  case missingFolder(String)
  /// A folder.
  case folder
  /// Something else.
  case other(path: String, kind: String)
  /// Nothing, since what stands above is no folder.
  case beneath(path: String, ancestor: String, kind: String)
  /// A link, there or above, to this, where nothing is.
  case brokenLink(path: String, target: String)

  /// Looks.
  package init(at path: String) {
    let manager = FileManager.default
    var isFolder: ObjCBool = false
    if unsafe manager.fileExists(atPath: path, isDirectory: &isFolder) {
      self = isFolder.boolValue ? .folder : .other(path: path, kind: StorePlace.kind(of: path))
    } else if let target = try? manager.destinationOfSymbolicLink(atPath: path) {
      self = .brokenLink(path: path, target: target)
    } else {
      let parent = StorePlace.folder(above: path)
      switch parent == path ? .folder : StorePlace(at: parent) {
      case .folder: self = .free
      case .free, .missingFolder: self = .missingFolder(parent)
      case .other(let ancestor, let kind), .beneath(_, let ancestor, let kind):
        self = .beneath(path: path, ancestor: ancestor, kind: kind)
      case let trouble: self = trouble
      }
    }
  }

  /// Why no store can be here whatever is done, with what to do; `nil` where that is not so.
  package var refusal: String? {
    switch self {
    case .free, .missingFolder, .folder: nil
    case .other(let path, let kind): "\(path) is \(kind), and a store is a folder. Check the path."
    case .beneath(let path, let ancestor, let kind):
      "There can be no store at \(path), since \(ancestor) is \(kind). Check the path."
    case .brokenLink(let path, let target):
      "\(path) is a link to \(target), where nothing is. Make that folder, remove the link, or check the path."
    }
  }

  private static func kind(of path: String) -> String {
    // The attributes are those of a link itself; what it leads to is asked for.
    let resolved = URL(filePath: path).resolvingSymlinksInPath().path
    switch (try? FileManager.default.attributesOfItem(atPath: resolved))?[.type] as? FileAttributeType {
    case .typeCharacterSpecial?, .typeBlockSpecial?: return "a device"
    case .typeSocket?: return "a socket"
    case .typeRegular?: return "a file"
    default: return "no folder"
    }
  }

  /// The folder that something of this path stands in.
  private static func folder(above path: String) -> String {
    var rest = Substring(path)
    while rest.count > 1, rest.last == "/" { rest.removeLast() }
    guard let slash = rest.lastIndex(of: "/") else { return "." }
    return slash == rest.startIndex ? "/" : String(rest[..<slash])
  }
}
