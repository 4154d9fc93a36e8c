import VarveLog

extension ManagedObject {
  /// Sets a slot, as the owner of the object asked for: whatever it was set to before that it cannot be set to is
  /// forgotten, also when the value is the one that is there.
  ///
  /// Traps when the object is detached: the value could never be saved, and losing it in silence would be worse.
  final func set(_ value: PropertyValue, at slot: Int) {
    guard !state.contains(.detached), core.isAttached else { trapDetached(slot) }
    if core.watchesEdits { core.context?.forgetMisuse(of: self, slot) }
    change(to: value, at: slot)
  }

  /// Makes a value that of a slot. The value that is there is no change, and the saved value takes the edit back: those
  /// for which a row holds the same bytes (``PropertyValue/isStored(like:)``).
  final func change(to value: PropertyValue, at slot: Int) {
    if state.contains(.inserted) {
      edits[slot] = value
    } else {
      let edit = edits[slot]
      if edit?.isStored(like: value) == true { return }
      if baseValue(at: slot)?.isStored(like: value) == true {
        if edit == nil { return }
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
