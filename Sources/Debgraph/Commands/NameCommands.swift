import CommandLineSupport
import Varve

extension Debgraph {
  private static let name = Operand("NAME", "the name of a package")

  /// `debgraph needs`
  static let needs: Command = {
    let direct = Flag("direct", "only what it names itself")
    return Command(
      "needs", "List what a package needs, one name a line.",
      discussion: """
        Follows every alternative of Depends and Pre-Depends, but not Provides. A name that the archive has no package for
        is listed like any other.
        """,
      [store, name, direct]
    ) { arguments, console in
      try withPackage(arguments, console) { package in
        list(arguments[direct] ? Queries.direct(package) : Queries.all(package), console)
      }
    }
  }()

  /// `debgraph needed-by`
  static let neededBy = Command(
    "needed-by", "List the packages that name a package in Depends or Pre-Depends, one a line.", [store, name]
  ) { arguments, console in
    try withPackage(arguments, console) { package in list(Queries.needing(package), console) }
  }

  /// `debgraph show`
  static let show = Command(
    "show", "Show what is known of a package, in the form of the archive.", [store, name]
  ) { arguments, console in
    try withPackage(arguments, console) { package in
      for line in PackageText.lines(package) { console.print(line) }
    }
  }

  @MainActor private static func list(_ packages: Set<Package>, _ console: Console) {
    for name in packages.map(\.name).sorted(by: inByteOrder) { console.print(name) }
  }

  /// The order of `LC_ALL=C sort`, so that lists can be compared and joined.
  static func inByteOrder(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  /// Finds the package and lets a command work on it; without one the exit code is 1.
  @MainActor private static func withPackage(
    _ arguments: Arguments, _ console: Console, _ work: (Package) throws -> Void
  ) throws -> ExitCode {
    try withGraph(arguments) { container in
      guard let package = try Queries.package(named: arguments[name], in: container.viewContext) else {
        console.note("\(arguments[name]) is neither a package nor named by one")
        return .finding
      }
      try work(package)
      return .success
    }
  }
}

/// A package in the form of its stanza.
enum PackageText {
  /// The lines: fields that have a value, dependency fields put together again, and what is not in the archive.
  static func lines(_ package: Package) -> [String] {
    var lines = ["Package: \(package.name)"]
    func add(_ name: String, _ value: String?) {
      if let value { lines.append("\(name): \(value)") }
    }
    add("Absent", package.isPresent ? nil : "yes, no package of the archive has this name")
    add("Version", package.version)
    add("Essential", package.isEssential ? "yes" : nil)
    add("Architecture", package.architecture)
    add("Section", package.section?.name)
    add("Priority", package.priority)
    add("Maintainer", package.maintainer?.name)
    add("Installed-Size", package.installedSize.map { "\($0)" })
    add("Size", package.downloadSize.map { "\($0)" })
    let dependencies = Dictionary(grouping: package.dependencies, by: \.kind)
    for kind in DependencyKind.allCases { add(kind.fieldName, dependencies[kind].map(field)) }
    add("Description", package.summary)
    let providers = package.dependents.filter { $0.kind == .provides }.map(\.source.name)
    if !providers.isEmpty { add("Provided-By", providers.sorted(by: Debgraph.inByteOrder).joined(separator: ", ")) }
    return lines
  }

  /// Groups by position, alternatives within one in their order.
  private static func field(_ dependencies: [Dependency]) -> String {
    Dictionary(grouping: dependencies, by: \.position).sorted { $0.key < $1.key }.map { _, group in
      group.sorted { $0.alternative < $1.alternative }.map { $0.term.description }.joined(separator: " | ")
    }.joined(separator: ", ")
  }
}

extension Dependency {
  /// The term of the field that the object was made of.
  var term: DependencyTerm {
    DependencyTerm(
      name: target.name, architectureQualifier: architectureQualifier,
      versionConstraint: versionRelation.map { DependencyTerm.VersionConstraint(relation: $0, version: version ?? "") },
      restrictions: restrictions, position: position, alternative: alternative)
  }
}
