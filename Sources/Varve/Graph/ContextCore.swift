import Synchronization
package import VarveLog

/// What objects hold of their context: enough to read their values for as long as they live.
///
/// The core holds no objects, so there is no cycle; the context holds the core, and the objects that it knows. When the
/// context goes, its objects keep reading from the core's snapshot, and refuse to be changed.
///
/// The reference to the context is weak, and not an unowned one that the context's deinit clears: the last reference to
/// a context may go on another thread than the one that uses its objects (that of a container, or of an actor that
/// ends), and a weak reference or an atomic flag is what may be read meanwhile. It is read where an object is changed
/// for the first time and where a relationship is followed, never where an attribute is read.
@usableFromInline package final class ContextCore {
  /// The store, its model and its commits.
  package let coordinator: StoreCoordinator
  /// The state of the store that every value is read from.
  package var snapshot: Snapshot
  /// The context, as long as it lives.
  package private(set) weak var context: ManagedObjectContext?
  /// Whether the context lives and has not been reset: the question that every change of a value asks.
  private let attachment = Atomic(false)
  /// Whether the context wants to hear of changed values.
  var watchesEdits = false

  /// Makes the core of a context.
  init(coordinator: StoreCoordinator, snapshot: Snapshot) {
    self.coordinator = coordinator
    self.snapshot = snapshot
  }

  /// Whether the context lives and has not been reset.
  var isAttached: Bool { attachment.load(ordering: .relaxed) }

  /// Ties the core to its context, once.
  func attach(_ context: ManagedObjectContext) {
    self.context = context
    attachment.store(true, ordering: .relaxed)
  }

  /// Unties objects from a context that was reset.
  func detach() {
    context = nil
    contextIsGoing()
  }

  /// Called when the context goes, on whatever thread that is.
  func contextIsGoing() { attachment.store(false, ordering: .relaxed) }
}

@available(*, unavailable)
extension ContextCore: Sendable {}
