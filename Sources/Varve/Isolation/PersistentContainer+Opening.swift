import Foundation
public import VarveLog

extension PersistentContainer {
  /// Opens a store, or makes it where there is none, without blocking the caller's thread.
  ///
  /// In statements at the top level of `main.swift` the compiler takes the form that blocks, whatever is written, and
  /// warns of the `await`; leave that out there.
  ///
  /// - Parameters:
  ///   - location: A URL or path of the store's folder, which is made if need be, in a folder that exists; or
  ///     `.inMemory`.
  ///   - model: The classes of the objects.
  ///   - options: Read-only opening, limits, and the durability of saves that name none.
  /// - Throws: ``PersistenceError`` with the code `invalidLocation`, `missingParentFolder`, `storeNotFound`,
  ///   `permissionDenied`, `diskFull`, `locked` (naming the process), `damaged`, `notAStore`, `newerFormat`, `modelMismatch`,
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
    let path = try path(of: location)
    return try await BackgroundThreads().perform { try open(path: path, model: model, options: options) }
  }

  /// Opens a store, or makes it where there is none. Blocks its thread: for programs without concurrency.
  ///
  /// - Throws: As the form that does not block.
  public static func open(
    at location: some StoreLocation, model: [any EntityClass.Type], options: StoreOptions = StoreOptions()
  ) throws -> PersistentContainer {
    try open(path: path(of: location), model: Model(model), options: options)
  }

  /// Opens a store with a model that was made before. Blocks its thread: for programs without concurrency.
  ///
  /// - Throws: As the form that does not block.
  public static func open(
    at location: some StoreLocation, model: Model, options: StoreOptions = StoreOptions()
  ) throws -> PersistentContainer {
    try open(path: path(of: location), model: model, options: options)
  }

  /// The path of a location; `nil` for one in memory.
  private static func path(of location: some StoreLocation) throws(PersistenceError) -> String? {
    func refusal(_ text: String, _ message: String) -> PersistenceError {
      PersistenceError(.invalidLocation, message, at: .init(path: text))
    }
    if let url = location as? URL, !url.isFileURL {
      throw refusal(
        url.absoluteString,
        "\(url.absoluteString) is no file URL, and a store is a folder on disk. Give its path, or URL(filePath:).")
    }
    guard let path = location.storePath else { return nil }
    if path.isEmpty {
      throw refusal(path, "The path of the store is empty. Give the path of a folder, such as food.varve.")
    }
    if path.utf8.contains(0) {
      throw refusal(path, "The path \(path.debugDescription) has a NUL in it, where the system would cut it.")
    }
    return path
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
    } catch {
      throw openingFailure(error, path, mayMake: options.createsIfMissing && !options.isReadOnly, fileSystem)
    }
  }

  /// The schema is recorded before the first object.
  private static func write(_ schema: Schema, to store: LogStore) throws {
    let bytes = try schema.encoded()
    try store.commit(durability: .disk) { batch in
      try batch.putSchema(ReservedRecord.schema(version: schema.version), bytes)
      batch.attachment = ChangeEvent(origin: nil, inserted: [], updated: [], deleted: [])
    }
  }

  /// What the failure means to whoever chose the path.
  private static func openingFailure(
    _ error: any Error, _ path: String, mayMake: Bool, _ fileSystem: any FileSystem
  ) -> PersistenceError {
    let failure = PersistenceError(error, doing: "Opening \(path)", path: path)
    guard let error = error as? StoreError else { return failure }
    func explained(
      _ code: PersistenceError.Code, _ message: String, cause: any Error = error
    ) -> PersistenceError {
      PersistenceError(code, message, at: .init(path: path), cause: cause)
    }
    let own = "PID \(ProcessInfo.processInfo.processIdentifier)"
    if error.code == .locked, error.message.contains("locked by \(own) (") {
      return explained(
        .locked,
        "The store \(path) is open for writing already, by another container of this process (\(own)). Use that one, "
          + "close it first, or open the store read-only here.")
    }
    guard fileSystem is PosixFileSystem, [.notFound, .ioFailure].contains(error.code), error.location.file == path
    else { return failure }
    let place = StorePlace(at: path)
    switch place {
    case .other, .beneath: return explained(.notAStore, place.refusal ?? failure.message)
    case .brokenLink: return explained(.storeNotFound, place.refusal ?? failure.message)
    case .missingFolder(let folder) where error.code == .notFound:
      return explained(
        .missingParentFolder,
        "The store \(path) cannot be made, since the folder \(folder) does not exist. Make the folder first, or choose "
          + "another place.")
    // The folder above is there, and the system says that it is not: so `/proc` answers.
    case .free where error.code == .notFound && mayMake:
      return explained(
        .invalidLocation,
        "The store \(path) cannot be made: the folder that it would stand in takes no new folders. Choose another place.",
        cause: error.cause ?? error)
    default: return failure
    }
  }
}
