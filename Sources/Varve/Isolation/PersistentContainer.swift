public import VarveLog

/// A store that is open, with the model of a program: where contexts come from.
///
/// ```swift
/// let container = try await PersistentContainer.open(at: url, model: [Food.self, Shelf.self])
/// let context = container.viewContext                                   // on the main actor
/// let count = try await container.performBackgroundTask { context in    // elsewhere
///   try context.count(Food.fetchRequest())
/// }
/// try await container.close()
/// ```
///
/// There is no container that is not open. It may be used from everywhere.
public final class PersistentContainer: Sendable {
  /// What the contexts share.
  package let coordinator: StoreCoordinator
  /// The threads on which background tasks run.
  let threads = BackgroundThreads()
  /// Where the view context is kept.
  let viewContextHolder = ViewContextHolder()
  private let closing = Guarded(false)

  /// Takes over what was opened.
  init(coordinator: StoreCoordinator) { self.coordinator = coordinator }

  /// The path of the store, for messages.
  public var path: String { coordinator.path }

  /// The entities, as the program described them.
  public var model: Model { coordinator.model.model }

  /// What opening found out about the store, and did.
  public var recoveryReport: RecoveryReport { coordinator.store.recoveryReport }

  // MARK: - Contexts

  /// Makes a context for whoever asks: it may be kept in an actor, or moved into a task, together with its objects.
  ///
  /// It starts from the newest state of the store. It does not merge by itself, see
  /// ``ManagedObjectContext/automaticallyMergesChangesFromParent``.
  public func newBackgroundContext() -> sending ManagedObjectContext { ManagedObjectContext(coordinator: coordinator) }

  /// Calls `body` with a context of its own on a background thread, and returns its result.
  ///
  /// Objects cannot leave; the compiler refuses a result that is tied to the context. Save inside of the block: what is
  /// not saved, is dropped. Blocks may run at the same time, each on its own state of the store. They may block: no
  /// thread of the cooperative pool is taken for them.
  /// - Throws: What `body` throws.
  public func performBackgroundTask<Result>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> sending Result
  ) async throws -> sending Result {
    try await withCheckedThrowingContinuation { continuation in
      threads.run { [coordinator] in
        do {
          continuation.resume(returning: try body(ManagedObjectContext(coordinator: coordinator)))
        } catch { continuation.resume(throwing: error) }
      }
    }
  }

  // MARK: - Maintenance

  /// Copies what is live into new segments and removes the old ones, on a thread of its own; everything else goes on
  /// meanwhile. See ``LogStore/compact()``.
  ///
  /// - Throws: ``PersistenceError`` with the code `readOnly`, `closed`, `poisoned`, `diskFull`, `damaged` or
  ///   `storeFailure`.
  @discardableResult
  public func compact() async throws -> CompactionReport {
    do {
      return try await coordinator.store.compact()
    } catch { throw PersistenceError(error, doing: "Compacting", path: path) }
  }

  // MARK: - Following

  /// Lets a container that was opened read-only show what other processes have saved since. New contexts see it at once;
  /// those that there are merge it as what another context has saved: the view context by itself, others with
  /// ``ManagedObjectContext/mergePending()``. Blocks its thread for reading files.
  ///
  /// ```swift
  /// var options = StoreOptions()
  /// options.isReadOnly = true
  /// let container = try await PersistentContainer.open(at: url, model: [Food.self], options: options)
  /// while isShown {
  ///   try await container.refresh()
  ///   try await Task.sleep(for: .milliseconds(200))
  /// }
  /// ```
  /// A container that may save is always up to date.
  ///
  /// - Returns: Whether objects changed.
  /// - Throws: ``PersistenceError`` with the code `schemaChanged` when another program has changed the schema: open the
  ///   container again. `closed`, `storeNotFound`, `locked` when the store changed too fast to be read, `damaged`, `newerFormat`, `permissionDenied` or `storeFailure`. Everything
  ///   stays as it was then.
  /// - Complexity: O(bytes that were saved since).
  @discardableResult
  public func refresh() throws -> Bool {
    do { return try coordinator.refresh() } catch {
      throw PersistenceError(error, doing: "Refreshing", path: path)
    }
  }

  /// Lets a container that was opened read-only show what other processes have saved since, without blocking the caller's
  /// thread. See the form that blocks.
  ///
  /// - Throws: As the form that blocks.
  @discardableResult
  public func refresh() async throws -> Bool {
    let refresh: @Sendable () throws -> Bool = { try self.refresh() }
    return try await threads.perform(refresh)
  }

  // MARK: - Closing

  /// Makes everything durable and closes the store; blocks until that is done. A second call waits for the first and
  /// does nothing.
  ///
  /// Objects and contexts that are left keep reading what they see; saving throws `closed`. Unsaved changes are lost.
  /// - Throws: ``PersistenceError`` with the code `storeFailure` or `diskFull`. The store is closed all the same, and
  ///   the next opening puts in order what was left.
  public func close() throws {
    // The lock is held to the end, so that after any call the store is closed.
    try closing.withLock { isClosed throws(PersistenceError) in
      if isClosed { return }
      isClosed = true
      var failure: (any Error)?
      do { try coordinator.returnSerials() } catch { failure = error }
      do { try coordinator.store.close() } catch { failure = failure ?? error }
      if let failure { throw PersistenceError(failure, doing: "Closing", path: path) }
    }
  }

  /// Makes everything durable and closes the store, without blocking the caller's thread. A second call waits for the
  /// first and does nothing.
  ///
  /// - Throws: As the form that blocks.
  public func close() async throws {
    let close: @Sendable () throws -> Void = { try self.close() }
    try await threads.perform(close)
  }
}
