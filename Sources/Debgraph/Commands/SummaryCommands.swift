import CommandLineSupport
import Varve

extension Debgraph {
  /// `debgraph sections`
  static let sections = Command(
    "sections", "List the sections of the archive with the number of their packages.", [store]
  ) { arguments, console in
    try withGraph(arguments) { container in
      let context = container.viewContext
      for section in try context.fetch(FetchRequest<Section>(sortBy: [Sort(\.name)])) {
        let count = try context.count(FetchRequest<Package>(where: \Package.section == section.id))
        console.print("\(padded(count))  \(section.name)")
      }
      return .success
    }
  }

  /// `debgraph stats`
  static let stats = Command(
    "stats", "Count what the graph holds.", [store]
  ) { arguments, console in
    try withGraph(arguments) { container in
      let context = container.viewContext
      func count<Object: ManagedObject>(_ condition: Condition<Object>) throws -> Int {
        try context.count(FetchRequest<Object>(where: condition))
      }
      console.print("\(padded(try count(.isTrue(\Package.isPresent))))  packages")
      console.print("\(padded(try count(!.isTrue(\Package.isPresent))))  names without a package")
      console.print("\(padded(try count(Condition<Section>.all)))  sections")
      console.print("\(padded(try count(Condition<Maintainer>.all)))  maintainers")
      console.print("\(padded(try count(Condition<Dependency>.all)))  dependencies")
      for kind in DependencyKind.allCases {
        console.print("\(padded(try count(\Dependency.kind == kind)))    \(kind.fieldName)")
      }
      return .success
    }
  }

  private static func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: " ", count: max(0, 8 - digits.count)) + digits
  }
}
