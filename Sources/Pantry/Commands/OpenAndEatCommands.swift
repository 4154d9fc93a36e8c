import CommandLineSupport
import Varve

extension Pantry {
  private static let what = Operand("WHAT", "its barcode, or a part of its name that nothing else has")
  private static let discussion = "Exit code 1 when nothing in the pantry, or more than one thing, is meant."

  /// `pantry open`
  static let open = Command(
    "open", "Write down that something is open now.", discussion: discussion, [what, StoreOption.option]
  ) { arguments, console in
    try await change(arguments, console) { stack, food in
      guard !food.isOpened else { return "open already" }
      food.isOpened = true
      return "opened"
    }
  }

  /// `pantry eat`
  static let eat = Command(
    "eat", "Take something out of the pantry.", discussion: discussion, [what, StoreOption.option]
  ) { arguments, console in
    try await change(arguments, console) { stack, food in
      try stack.delete(food)
      return "eaten"
    }
  }

  /// Finds the one food that is meant, changes it, saves and says so.
  @MainActor private static func change(
    _ arguments: Arguments, _ console: Console, _ change: @MainActor (PantryStack, Food) throws -> String
  ) async throws -> ExitCode {
    try await StoreOption.withStack(arguments) { stack in
      let foods = try stack.foods(matching: arguments[what])
      guard let food = foods.first else {
        console.note("there is no \"\(arguments[what])\" in the pantry")
        return .finding
      }
      guard foods.count == 1 else {
        console.note("\"\(arguments[what])\" may be one of \(foods.count) things; give the barcode:")
        for line in ProductTable(now: Clock.now).lines(try foods.map { try Product($0) }) { console.note("  \(line)") }
        return .finding
      }
      let (barcode, name) = (food.barcode, food.name)
      let done = try change(stack, food)
      try stack.saveContext()
      console.print("\(done) \(barcode)  \(name)")
      return .success
    }
  }
}
