import Varve

/// A package of the archive, or a name that others use although no package has it.
@Entity final class Package: ManagedObject {
  @Attribute(.unique) var name: String
  /// Whether the archive has a package of this name. A name without one is kept for those who name it: it may be
  /// provided by others, or stand for something that the archive once had.
  var isPresent = false
  var version: String?
  var architecture: String?
  var priority: String?
  var summary: String?
  var isEssential = false
  /// In units of 1024 bytes.
  var installedSize: Int?
  /// In bytes.
  var downloadSize: Int?
  @Relationship(inverse: \Section.packages) var section: Section?
  @Relationship(inverse: \Maintainer.packages) var maintainer: Maintainer?
  /// Whom it names.
  @Relationship var dependencies: Set<Dependency>
  /// By whom it is named.
  @Relationship var dependents: Set<Dependency>
}

/// A part of the archive: `admin`, `non-free/games`.
@Entity final class Section: ManagedObject {
  @Attribute(.unique) var name: String
  @Relationship var packages: Set<Package>
}

/// Who looks after packages: a name with an address.
@Entity final class Maintainer: ManagedObject {
  @Attribute(.unique) var name: String
  @Relationship var packages: Set<Package>
}

/// One package names another, in one of the dependency fields.
@Entity final class Dependency: ManagedObject {
  @Attribute(.indexed) var kind: DependencyKind
  /// Which of the groups of the field it stands in, from 0. The alternatives of a group have the same position.
  var position: Int
  /// Which of the alternatives of its group it is, from 0.
  var alternative: Int
  var versionRelation: VersionRelation?
  var version: String?
  var architectureQualifier: String?
  var restrictions: String?
  @Relationship(inverse: \Package.dependencies) var source: Package
  @Relationship(inverse: \Package.dependents) var target: Package
}

/// The entities of the graph.
enum Graph {
  static let model: [any EntityClass.Type] = [Package.self, Section.self, Maintainer.self, Dependency.self]
}
