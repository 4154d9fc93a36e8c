/// Keeps the view context where only the main actor reaches it.
@MainActor
final class ViewContextHolder {
  var context: ManagedObjectContext?

  nonisolated init() {}
}

extension PersistentContainer {
  /// The context of the main actor: made on first use, and the same ever after.
  ///
  /// It merges what others commit by itself, in a task of its own on the main actor; so nothing changes while code on
  /// the main actor runs without awaiting.
  @MainActor public var viewContext: ManagedObjectContext {
    if let context = viewContextHolder.context { return context }
    // The word goes on without the context: a closure that is Sendable cannot have it.
    let context = ManagedObjectContext(coordinator: coordinator) { [weak self] in
      Task { @MainActor in self?.mergeIntoViewContext() }
    }
    context.automaticallyMergesChangesFromParent = true
    viewContextHolder.context = context
    return context
  }

  @MainActor private func mergeIntoViewContext() {
    guard let context = viewContextHolder.context, context.automaticallyMergesChangesFromParent else { return }
    context.mergePending()
  }
}
