import Varve

/// What the commands ask of the graph.
enum Queries {
  /// The package, or absent name, that a name stands for.
  static func package(named name: String, in context: ManagedObjectContext) throws -> Package? {
    try context.fetch(FetchRequest<Package>(where: \.name == name, limit: 1)).first
  }

  /// What a package names in Depends and Pre-Depends, every alternative. In no order; without what it names itself.
  static func direct(_ package: Package) -> Set<Package> {
    Set(needs(among: package.dependencies).map(\.target))
  }

  /// All that can be reached from a package by ``direct(_:)``, without the package itself.
  static func all(_ package: Package) -> Set<Package> {
    var found: Set<Package> = [package]
    var waiting = [package]
    while let next = waiting.popLast() {
      for target in direct(next) where found.insert(target).inserted { waiting.append(target) }
    }
    found.remove(package)
    return found
  }

  /// The packages that name a package in Depends or Pre-Depends.
  static func needing(_ package: Package) -> Set<Package> {
    Set(needs(among: package.dependents).map(\.source))
  }

  /// Those in Depends and Pre-Depends. One that cannot be read is left out: the context knows why, and no answer is given
  /// then.
  private static func needs(among dependencies: Set<Dependency>) -> [Dependency] {
    dependencies.filter { $0.kind.isNeed && $0.readError == nil }
  }
}
