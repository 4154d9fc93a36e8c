public import VarveLog

/// A scratch pad over a store: the objects that somebody works with, and what was changed in them.
///
/// ```swift
/// let context = container.viewContext                        // on the main actor
/// let milk = Food(in: context, barcode: "4006381333931", name: "Milk")
/// try context.save()                                         // one durable commit
/// let foods = try context.fetch(FetchRequest<Food>(sortBy: [SortDescriptor(\.name)]))
/// ```
///
/// A context reads one state of the store, its snapshot, however much others commit meanwhile, and shows its own
/// unsaved changes on top. It moves to a newer state when it saves, when it is told to (``mergePending()``), and by
/// itself where ``automaticallyMergesChangesFromParent`` says so; never during a fetch or while a property is read.
///
/// It is used synchronously by whoever has it, and it is not `Sendable`: a context and its objects stay in one
/// isolation, which the compiler checks. Nothing that it does waits for another context.
///
/// When a context goes, so do its unsaved changes.
public final class ManagedObjectContext {
  /// What objects hold of the context.
  package private(set) var core: ContextCore
  /// The store.
  package let coordinator: StoreCoordinator
  /// The objects that the context knows.
  private(set) var table = IdentityTable()
  /// The objects that have or had changes since the last save, each once, in the order of the first change.
  var listed: ContiguousArray<ManagedObject> = []
  /// The current values of indexed properties of changed objects; `nil` until something asks.
  var pendingIndexes: PendingIndexes? { didSet { updateWatch() } }
  /// Relationships that were set to what they cannot be set to.
  var misuses: [Misuse: PersistenceError] = [:] { didSet { updateWatch() } }
  /// The entity of the class that an object was made of last.
  var lastEntity: (type: ObjectIdentifier, entity: BoundEntity)?
  /// Where the commits of others wait.
  let inbox: ContextInbox
  /// How many objects the last merge looked at: for tests of what a merge costs.
  package internal(set) var lastMergeExaminedCount = 0
  /// How many merges there were.
  package internal(set) var mergeCount = 0
  /// Called before each try of a save with its number, for tests of what happens when others are faster.
  var saveTryObserver: ((Int) throws -> Void)?
  /// At how many registered objects those are dropped that nobody uses.
  var sweepCount = ManagedObjectContext.sweepCountMin

  static let sweepCountMin = 1024

  /// The first thing that a property of an object of this context could not read since the context was made or reset.
  /// Such a property has read as a placeholder, and what was computed from it is not to
  /// be believed: whoever answers or saves from many properties looks here once at the end, instead of at
  /// ``ManagedObject/readError`` each time.
  public private(set) var readError: PersistenceError?

  /// A name for people and for the log: it stands in each commit that the context makes.
  public var name: String?

  /// Who changes things through this context, as it stands in each commit.
  public var transactionAuthor: String?

  /// Whether the context takes over what others commit without being told. If so, it does that at the end of a save; the
  /// view context also by a task of its own on the main actor, so that it follows between two other pieces of work there. Otherwise it stays where it is until it saves or
  /// ``mergePending()`` is called. On for the view context, off for others.
  public var automaticallyMergesChangesFromParent = false {
    didSet { if automaticallyMergesChangesFromParent { inbox.remind() } }
  }

  /// Makes a context over the newest state of the store.
  package init(coordinator: StoreCoordinator, wake: (@Sendable () -> Void)? = nil) {
    self.coordinator = coordinator
    let inbox = ContextInbox(wake: wake)
    self.inbox = inbox
    core = ContextCore(
      coordinator: coordinator,
      snapshot: coordinator.hub.add(inbox, startingFrom: { coordinator.makeSnapshot() }))
    core.attach(self)
  }

  deinit { core.contextIsGoing() }

  /// The commit up to which the context sees the store.
  public var sequence: CommitSequence { core.snapshot.sequence }
}

@available(*, unavailable)
extension ManagedObjectContext: Sendable {}

extension ManagedObjectContext {
  /// Says whether objects have to report what is set: only while something here depends on it.
  private func updateWatch() { core.watchesEdits = pendingIndexes != nil || !misuses.isEmpty }

  /// Whether a save would write anything.
  public var hasChanges: Bool { !misuses.isEmpty || listed.contains { $0.state.isPending } }

  /// The objects that were made here and are not saved, in the order in which they were made.
  public var insertedObjects: [ManagedObject] { listed.filter { $0.isInserted } }

  /// The objects with unsaved changes that were saved before, in the order of their first change.
  public var updatedObjects: [ManagedObject] { listed.filter { $0.isUpdated } }

  /// The objects whose deletion is not saved, in the order of their first change.
  public var deletedObjects: [ManagedObject] {
    listed.filter { $0.state.contains(.deleted) && $0.state.isPending }
  }

  func noteReadError(_ error: PersistenceError) {
    if readError == nil { readError = error }
  }

  /// How many objects the context knows: those in use, those with changes, and some that were in use lately.
  public var registeredObjectCount: Int { table.count }

  /// Forgets everything: all objects and all unsaved changes. The objects are detached and keep their last values. The
  /// context is then at the newest state of the store.
  public func reset() {
    core.detach()
    // The inbox first: what comes in after this is newer than the snapshot.
    let newest = inbox.drain()?.snapshot
    var snapshot = newest.map { $0.sequence > core.snapshot.sequence ? $0 : core.snapshot } ?? core.snapshot
    // Compactions let snapshots expire without word of anything new.
    if snapshot.isExpired { snapshot = coordinator.makeSnapshot() }
    core = ContextCore(coordinator: coordinator, snapshot: snapshot)
    core.attach(self)
    table.forEach { $0.state.insert(.detached) }
    let forgotten = (table, listed)
    table = IdentityTable()
    listed = []
    pendingIndexes = nil
    misuses = [:]
    readError = nil
    withExtendedLifetime(forgotten) {}
  }
}

/// A slot of an object, as the key of what went wrong there.
struct Misuse: Hashable {
  let record: RecordID
  let slot: Int
}
