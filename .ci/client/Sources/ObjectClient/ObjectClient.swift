import Foundation
import Varve

/// An entity in a package that is not Varve's: the macro runs from a checkout by version.
@Entity final class Note: ManagedObject {
  @Attribute(.unique) var title: String
  var text = ""
}

/// Keeps an object in a store of its own, and reads it after opening the store again.
@main
struct ObjectClient {
  static func main() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "varve-client-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "notes.varve").path
    let id = try await write(to: path)
    let container = try await PersistentContainer.open(at: path, model: [Note.self])
    let text = try await container.performBackgroundTask { context in
      let note = try context.existingObject(with: id)
      return "\(note.title): \(note.text)"
    }
    try await container.close()
    print(text)
  }

  static func write(to path: String) async throws -> ID<Note> {
    let container = try await PersistentContainer.open(at: path, model: [Note.self])
    let id = try await container.performBackgroundTask { context in
      let note = Note(in: context, title: "Client")
      note.text = "kept and read"
      try context.save()
      return note.id
    }
    try await container.close()
    return id
  }
}
