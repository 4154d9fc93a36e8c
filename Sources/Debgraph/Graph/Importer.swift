import Varve
import VarveLog

/// Makes the graph equal to an archive, package by package, and changes nothing that is equal already.
///
/// Works in batches: after each the context is saved and emptied, so that memory does not grow with the archive. What
/// stays is the IDs of everything that has a name.
struct Importer {
  /// What an import did.
  struct Report: Equatable, Sendable {
    var packagesRead = 0
    /// Stanzas with a name that an earlier one had; they are left out.
    var repeatedNames = 0
    var packagesAdded = 0
    var packagesChanged = 0
    var packagesRemoved = 0
    var dependenciesAdded = 0
    var dependenciesChanged = 0
    var dependenciesRemoved = 0
    /// Commits that were made.
    var commits = 0
  }

  /// Packages a commit. A batch of this size holds some eight thousand objects.
  static let batchSize = 1000

  private(set) var report = Report()
  private let context: ManagedObjectContext
  private var packages = Names<Package>()
  private var sections = Names<Section>()
  private var maintainers = Names<Maintainer>()
  /// The names that the archive has packages for.
  private var seen: Set<String> = []
  private var pendingCount = 0

  /// Starts an import into the store of a context that nobody else uses.
  init(into context: ManagedObjectContext) throws {
    self.context = context
    for package in try context.fetch(FetchRequest<Package>()) { packages.ids[package.name] = package.id }
    for section in try context.fetch(FetchRequest<Section>()) { sections.ids[section.name] = section.id }
    for maintainer in try context.fetch(FetchRequest<Maintainer>()) { maintainers.ids[maintainer.name] = maintainer.id }
    context.reset()
  }

  /// Takes the next package of the archive.
  mutating func take(_ archived: ArchivedPackage) throws {
    report.packagesRead += 1
    guard seen.insert(archived.name).inserted else {
      report.repeatedNames += 1
      return
    }
    let isNew = packages.ids[archived.name] == nil
    let package = try self.package(named: archived.name)
    let wasPresent = package.isPresent
    try copy(archived, to: package)
    if !wasPresent { report.packagesAdded += 1 } else if package.hasChanges { report.packagesChanged += 1 }
    try copy(archived.dependencies, to: package, isNew: isNew)
    pendingCount += 1
    if pendingCount >= Importer.batchSize { try saveBatch() }
  }

  /// Takes the end of the archive: what the store has and the archive has not, goes.
  mutating func finish() throws -> Report {
    try saveBatch()
    for (name, id) in packages.ids where !seen.contains(name) { try removeIfPresent(id) }
    try saveBatch()
    try removeUnused(packages.ids.filter { !seen.contains($0.key) }.map(\.value)) { \Dependency.target == $0 }
    try removeUnused(Array(sections.ids.values)) { \Package.section == $0 }
    try removeUnused(Array(maintainers.ids.values)) { \Package.maintainer == $0 }
    try saveBatch()
    return report
  }

  // MARK: One package

  private mutating func copy(_ archived: ArchivedPackage, to package: Package) throws {
    package.isPresent = true
    package.version = archived.version
    package.architecture = archived.architecture
    package.priority = archived.priority
    package.summary = archived.summary
    package.isEssential = archived.isEssential
    package.installedSize = archived.installedSize
    package.downloadSize = archived.downloadSize
    package.section = try archived.section.map { try sections.object(named: $0, in: context, make: Section.init) }
    package.maintainer = try archived.maintainer.map {
      try maintainers.object(named: $0, in: context, make: Maintainer.init)
    }
  }

  /// Where a dependency stands; no two of one package stand at the same place.
  private struct Place: Hashable {
    var kind: DependencyKind
    var position: Int
    var alternative: Int
  }

  private mutating func copy(
    _ archived: [ArchivedPackage.Dependency], to package: Package, isNew: Bool
  ) throws {
    var existing: [Place: Dependency] = [:]
    if !isNew {
      for dependency in package.dependencies {
        let place = Place(
          kind: dependency.kind, position: dependency.position, alternative: dependency.alternative)
        existing[place] = dependency
      }
    }
    for item in archived {
      let place = Place(kind: item.kind, position: item.term.position, alternative: item.term.alternative)
      let target = try self.package(named: item.term.name)
      if let dependency = existing.removeValue(forKey: place) {
        dependency.target = target
        copy(item.term, to: dependency)
        if dependency.hasChanges { report.dependenciesChanged += 1 }
      } else {
        let dependency = Dependency(
          in: context, kind: item.kind, position: place.position, alternative: place.alternative, source: package,
          target: target)
        copy(item.term, to: dependency)
        report.dependenciesAdded += 1
      }
    }
    for dependency in existing.values {
      try context.delete(dependency)
      report.dependenciesRemoved += 1
    }
  }

  private func copy(_ term: DependencyTerm, to dependency: Dependency) {
    dependency.versionRelation = term.versionConstraint?.relation
    dependency.version = term.versionConstraint?.version
    dependency.architectureQualifier = term.architectureQualifier
    dependency.restrictions = term.restrictions
  }

  private mutating func package(named name: String) throws -> Package {
    try packages.object(named: name, in: context, make: Package.init)
  }

  // MARK: What is not in the archive any more

  private mutating func removeIfPresent(_ id: Varve.ID<Package>) throws {
    let package = try context.existingObject(with: id)
    guard package.isPresent else { return }
    package.isPresent = false
    package.version = nil
    package.architecture = nil
    package.priority = nil
    package.summary = nil
    package.isEssential = false
    package.installedSize = nil
    package.downloadSize = nil
    package.section = nil
    package.maintainer = nil
    for dependency in package.dependencies {
      try context.delete(dependency)
      report.dependenciesRemoved += 1
    }
    report.packagesRemoved += 1
    pendingCount += 1
    if pendingCount >= Importer.batchSize { try saveBatch() }
  }

  /// Deletes those that nothing refers to, which the condition finds out.
  private mutating func removeUnused<Object: ManagedObject, Referrer: ManagedObject>(
    _ ids: [Varve.ID<Object>], referrers: (Varve.ID<Object>) -> Condition<Referrer>
  ) throws {
    for id in ids where try context.count(FetchRequest<Referrer>(where: referrers(id))) == 0 {
      try context.delete(try context.existingObject(with: id))
    }
  }

  /// Saves what came together, if anything changed, and lets go of its objects.
  private mutating func saveBatch() throws {
    pendingCount = 0
    // What could not be read looked like something else, and was perhaps replaced.
    if let damage = context.readError { throw damage }
    if context.hasChanges {
      // Safe against a crash of this process at once, and against one of the machine when the store is closed.
      try context.save(durability: .system)
      report.commits += 1
    }
    context.reset()
  }
}

/// The objects of an entity by their names. Only the IDs are kept, since the context is emptied after each batch.
private struct Names<Object: ManagedObject> {
  var ids: [String: Varve.ID<Object>] = [:]

  /// The object of a name, made if there is none.
  mutating func object(
    named name: String, in context: ManagedObjectContext, make: (ManagedObjectContext, String) -> Object
  ) throws -> Object {
    if let id = ids[name] { return try context.existingObject(with: id) }
    let object = make(context, name)
    ids[name] = object.id
    return object
  }
}
