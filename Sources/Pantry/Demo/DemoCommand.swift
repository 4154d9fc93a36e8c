import CommandLineSupport
import Foundation

extension Pantry {
  /// `pantry demo`
  static let demo = Command(
    "demo", "Show what Varve does, as a story in a fresh folder.",
    discussion: """
      Makes a store, lets two background tasks write into it while the main context looks on, starts a second process
      that writes, kills it in the middle, opens the store again and compares. Leaves the store there for you to try.
      """
  ) { _, console in
    let folder = FileManager.default.temporaryDirectory.appending(path: "pantry-demo-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let story = DemoStory(path: folder.appending(path: "pantry.varve").path, console: console)
    return try await story.tell()
  }

  private static let writerStore = Operand("STORE", "the store to write to")

  /// The process that the demo kills. Prints the barcode of each product once its commit is on disk.
  static let demoWriter = Command(
    "demo-writer", "Write products until killed; a part of demo.", isListed: false, [writerStore]
  ) { arguments, console in
    let stack = try await PantryStack.open(at: arguments[writerStore])
    for number in 1...DemoStory.writtenByChildMax {
      let product = Product(
        barcode: .homemade(number: number), name: "Jar number \(number)", category: .staples, shelf: "Cellar",
        creationDate: Clock.now)
      try stack.add(product)
      console.print(product.barcode.digits)
      console.output.flush()
    }
    try await stack.close()
    return .success
  }
}
