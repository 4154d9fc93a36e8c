package import VarveLog

/// What objects hold of their context: enough to read their values for as long as they live.
///
/// The core holds no objects, so there is no cycle; the context holds the core, and the objects that it knows. When the
/// context goes, its objects keep reading from the core's snapshot, and refuse to be changed.
///
/// The reference to the context is weak, and not an unowned one that the context's deinit clears: the last reference
/// to a context may go on another thread than the one that uses its objects (that of a container, or of an actor that
/// ends), and a weak reference is the one thing that may be read meanwhile. It is read where an object is changed for
/// the first time and where a relationship is followed, never where an attribute is read.
@usableFromInline package final class ContextCore {
  /// The store, its model and its commits.
  package let coordinator: StoreCoordinator
  /// The state of the store that every value is read from.
  package var snapshot: Snapshot
  /// The context, as long as it lives.
  package private(set) weak var context: ManagedObjectContext?

  /// Makes the core of a context.
  init(coordinator: StoreCoordinator, snapshot: Snapshot) {
    self.coordinator = coordinator
    self.snapshot = snapshot
  }

  /// Ties the core to its context, once.
  func attach(_ context: ManagedObjectContext) { self.context = context }

  /// Unties objects from a context that was reset.
  func detach() { context = nil }
}

@available(*, unavailable)
extension ContextCore: Sendable {}
