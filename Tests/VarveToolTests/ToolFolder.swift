import Foundation
import Varve
import VarveLog
import VarveTestSupport

/// A folder with stores on disk, and the tool as a person meets it: a process with output, error output and exit code.
final class ToolFolder {
  private let folder: TemporaryFolder
  /// The path of the store that ``fill(foods:)`` makes.
  let store: String

  init() throws {
    folder = try TemporaryFolder("varve tool")
    store = folder.path + "/kitchen.varve"
  }

  static let tool = ChildProcess.path(ofProduct: "varve")

  func path(_ name: String) -> String { folder.path + "/" + name }

  func varve(_ words: String...) throws -> ChildProcess { try varve(words) }

  func varve(_ words: [String]) throws -> ChildProcess { try ChildProcess.run(ToolFolder.tool, words) }

  static func model() throws -> Model {
    try Model(entities: [
      EntityDescription(
        "Food",
        attributes: [
          AttributeDescription("name", .string),
          AttributeDescription("barcode", .string, isOptional: true, isUnique: true),
        ],
        relationships: [RelationshipDescription("shelf", toOne: "Shelf", inverse: "foods")]),
      EntityDescription(
        "Shelf", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("foods", toMany: "Food", inverse: "shelf")]),
    ])
  }

  func open() throws -> PersistentContainer {
    try PersistentContainer.open(path: store, model: ToolFolder.model(), fileSystem: PosixFileSystem())
  }

  /// Makes a store of one shelf with so many foods on it, and closes it.
  func fill(foods: Int = 2) throws {
    let container = try open()
    let context = container.newBackgroundContext()
    let shelf = try context.insert(entityNamed: "Shelf")
    shelf["name"] = "Fridge"
    for number in 1...foods {
      let food = try context.insert(entityNamed: "Food")
      food["name"] = .string("Food \(number)")
      food["barcode"] = .string("\(4_000_000_000_000 + number)")
      try food.setObject(shelf, forName: "shelf")
    }
    try context.save()
    try container.close()
  }

  /// Commits to a store, which is made if need be, as the engine alone does.
  func commit(to path: String, _ body: (inout Batch) throws -> Void) throws {
    let store = try LogStore.beginOpening(at: path).finish { _ in nil }
    try store.commit(body)
    try store.close()
  }

  /// Changes the files of the store.
  func damage(_ body: (inout StoreImage) throws -> Void) throws {
    var image = try StoreImage(of: store, on: PosixFileSystem())
    try body(&image)
    try image.write(to: store, on: PosixFileSystem())
  }

  /// Every file and folder below the store with its kind, size, time of change and bytes.
  func contents() throws -> [String: String] {
    var found: [String: String] = [:]
    for path in [""] + (try FileManager.default.subpathsOfDirectory(atPath: store)) {
      let full = store + "/" + path
      let attributes = try FileManager.default.attributesOfItem(atPath: full)
      let time = (attributes[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
      let bytes = FileManager.default.contents(atPath: full)?.base64EncodedString() ?? ""
      found[path] = "\(attributes[.size] ?? 0) \(time) \(bytes)"
    }
    return found
  }
}

extension ChildProcess {
  /// How it ended and what it said, to be compared at once.
  var all: [String] { ["\(ending)", output, errorOutput] }
}
