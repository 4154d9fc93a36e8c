import VarveLog

extension ManagedObject {
  /// Sets a slot. Setting the value that is there is no change; setting the saved value takes the edit back.
  ///
  /// Traps when the object is detached: the value could never be saved, and losing it in silence would be worse.
  final func set(_ value: PropertyValue, at slot: Int) {
    guard !state.contains(.detached), core.isAttached else { trapDetached(slot) }
    if state.contains(.inserted) {
      edits[slot] = value
    } else {
      if edits[slot] == value { return }
      if baseValue(at: slot) == value {
        if edits[slot] == nil { return }
        edits[slot] = nil
        aside?.contended[slot] = nil
        if edits.isEmpty { state.remove(.edited) }
      } else {
        edits[slot] = value
        state.insert(.edited)
        if !state.contains(.listed) { core.context?.list(self) }
      }
    }
    if core.watchesEdits { core.context?.noteEdit(of: self, value, at: slot) }
  }

  @inline(never)
  private func trapDetached(_ slot: Int) -> Never {
    trap(
      "\(self).\(entity.name(ofSlot: slot)) was set, but the object is detached: its context is gone or was reset, or "
        + "it was deleted. Get the object from a context with existingObject(with:).")
  }

  /// Takes all edits back.
  final func dropEdits() {
    edits = RowEdits()
    state.remove(.edited)
    aside?.contended = [:]
  }
}

extension RowEdits {
  /// The values that a new object starts with.
  init(defaultsOf entity: BoundEntity) {
    self.init()
    for entry in entity.defaultValues { self[entry.slot] = entry.make() }
  }
}
