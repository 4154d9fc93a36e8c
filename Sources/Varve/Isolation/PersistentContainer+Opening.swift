public import VarveLog

extension PersistentContainer {
  /// Opens a store, or makes it where there is none, without blocking the caller's thread.
  ///
  /// - Parameters:
  ///   - location: A URL or path of the store's folder, which is made if need be, in a folder that exists; or
  ///     `.inMemory`.
  ///   - model: The classes of the objects.
  ///   - options: Read-only opening and limits. Saves name their own durability, `.disk` by default.
  /// - Throws: ``PersistenceError`` with the code `missingParentFolder`, `storeNotFound`, `permissionDenied`,
  ///   `diskFull`, `locked` (naming the process), `damaged`, `notAStore`, `newerFormat`, `modelMismatch`,
  ///   `invalidModel` or `storeFailure`. Nothing is left open.
  public static func open(
    at location: some StoreLocation, model: [any EntityClass.Type], options: StoreOptions = StoreOptions()
  ) async throws -> PersistentContainer {
    try await open(at: location, model: Model(model), options: options)
  }

  /// Opens a store with a model that was made before, without blocking the caller's thread.
  ///
  /// - Throws: As the form with classes.
  public static func open(
    at location: some StoreLocation, model: Model, options: StoreOptions = StoreOptions()
  ) async throws -> PersistentContainer {
    let path = location.storePath
    return try await BackgroundThreads().perform { try open(path: path, model: model, options: options) }
  }

  /// Opens a store, or makes it where there is none. Blocks its thread: for programs without concurrency.
  ///
  /// - Throws: As the form that does not block.
  public static func open(
    at location: some StoreLocation, model: [any EntityClass.Type], options: StoreOptions = StoreOptions()
  ) throws -> PersistentContainer {
    try open(path: location.storePath, model: Model(model), options: options)
  }

  /// Opens a store with a model that was made before. Blocks its thread: for programs without concurrency.
  ///
  /// - Throws: As the form that does not block.
  public static func open(
    at location: some StoreLocation, model: Model, options: StoreOptions = StoreOptions()
  ) throws -> PersistentContainer {
    try open(path: location.storePath, model: model, options: options)
  }

  private static func open(path: String?, model: Model, options: StoreOptions) throws -> PersistentContainer {
    if let path { return try open(path: path, model: model, options: options, fileSystem: PosixFileSystem()) }
    return try open(path: "memory", model: model, options: options, fileSystem: MemoryFileSystem())
  }

  /// Opens a store on files of any kind.
  package static func open(
    path: String, model: Model, options: StoreOptions = StoreOptions(), fileSystem: any FileSystem
  ) throws -> PersistentContainer {
    do {
      let opening = try LogStore.beginOpening(at: path, options: options, fileSystem: fileSystem)
      let bound = try BoundModel(model, stored: Schema.newest(of: opening.schemaRecords.map(\.bytes)))
      let store = try opening.finish { _ in SchemaRowIndexing(bound.schema) }
      if let schema = bound.schemaToWrite, !options.isReadOnly { try write(schema, to: store) }
      let coordinator = try StoreCoordinator(store: store, model: bound, path: path, isReadOnly: options.isReadOnly)
      return PersistentContainer(coordinator: coordinator)
    } catch { throw openingFailure(error, path, fileSystem) }
  }

  /// The schema is recorded before the first object.
  private static func write(_ schema: Schema, to store: LogStore) throws {
    let bytes = try schema.encoded()
    try store.commit(durability: .disk) { batch in
      try batch.putSchema(ReservedRecord.schema(version: schema.version), bytes)
      batch.attachment = ChangeEvent(origin: nil, inserted: [], updated: [], deleted: [])
    }
  }

  private static func openingFailure(
    _ error: any Error, _ path: String, _ fileSystem: any FileSystem
  ) -> PersistenceError {
    let failure = PersistenceError(error, doing: "Opening \(path)", path: path)
    guard failure.code == .storeNotFound else { return failure }
    let parent = parentPath(of: path)
    do {
      _ = try fileSystem.openDirectory(at: parent)
    } catch let parentFailure where parentFailure.code == .notFound {
      return PersistenceError(
        .missingParentFolder,
        "The store \(path) cannot be made, since the folder \(parent) does not exist. Make the "
          + "folder first, or choose another place.", at: .init(path: path), cause: error)
    } catch { return failure }
    return failure
  }

  /// The folder that something of this path stands in.
  private static func parentPath(of path: String) -> String {
    let trimmed = Substring(path).trimmingSlashes
    guard let slash = trimmed.lastIndex(of: "/") else { return "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }
}

extension Substring {
  /// Without slashes at the end.
  fileprivate var trimmingSlashes: Substring {
    var text = self
    while text.count > 1, text.last == "/" { text.removeLast() }
    return text
  }
}
