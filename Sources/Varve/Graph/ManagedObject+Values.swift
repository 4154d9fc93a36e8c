import VarveLog

// What the accessors that `@Entity` writes call.

extension ManagedObject {
  /// Reads the attribute in a slot. For accessors that `@Entity` writes.
  @inlinable public final func _value<Value: AttributeValue>(at slot: Int) -> Value {
    if _fastPath(state.isDisjoint(with: [.edited])), let row = unsafe row,
      let value = unsafe try? row.value(of: entity.layout.fields[slot], as: Value.self)
    {
      return value
    }
    return _valueOffRow(at: slot)
  }

  /// Reads an attribute that was edited, or of a fault, or that cannot be read.
  @usableFromInline final func _valueOffRow<Value: AttributeValue>(at slot: Int) -> Value {
    if let edit = edits[slot] { return (try? Value(propertyValue: edit)) ?? Value.placeholder }
    guard let row = unsafe awakenedRow() else { return Value.placeholder }
    do {
      return try unsafe row.value(of: entity.layout.fields[slot], as: Value.self)
    } catch {
      noteUnreadable(error, slot)
      return Value.placeholder
    }
  }

  /// Sets the attribute in a slot. For accessors that `@Entity` writes.
  public final func _setValue<Value: AttributeValue>(_ value: Value, at slot: Int) {
    set(value.propertyValue, at: slot)
  }
}

extension ManagedObject {
  /// Remembers why a value could not be read. A raw value without a case is no reason to refuse the object: it stays as
  /// it is until the property is set.
  private func noteUnreadable(_ error: PersistenceError, _ slot: Int) {
    if error.code == .unknownRawValue { return }
    let location = PersistenceError.Location(entity: entity.name, property: entity.name(ofSlot: slot), record: record)
    noteUnreadable(error.located(location))
  }

  /// Remembers why the row could not be read.
  final func noteUnreadable(_ error: PersistenceError) {
    let aside = ensureAside()
    if aside.readError == nil { aside.readError = error }
    state.insert(.unreadable)
    core.context?.noteReadError(error)
  }

  final func ensureAside() -> ObjectAside {
    if let aside { return aside }
    let new = ObjectAside()
    aside = new
    return new
  }

  // MARK: Rows

  /// The object's row, looked up if need be; `nil` when there is none or it cannot be read.
  final func awakenedRow() -> RowReader? {
    if let row = unsafe row { return unsafe row }
    if state.contains(.inserted) || state.contains(.unreadable) { return nil }
    do {
      try awaken()
    } catch {
      noteUnreadable(error)
    }
    return unsafe row
  }

  /// Looks the object's row up.
  /// - Throws: ``PersistenceError`` with the code `objectNotFound` or `damaged`.
  final func awaken() throws(PersistenceError) {
    guard unsafe row == nil, !state.contains(.inserted) else { return }
    guard let loaded = unsafe try core.loadRow(of: record, entity) else {
      throw PersistenceError(
        .objectNotFound, "\(self) does not exist.", at: .init(entity: entity.name, record: record))
    }
    unsafe take(loaded)
  }

  /// Takes a row that was looked up.
  final func take(_ loaded: LoadedRow) {
    unsafe row = loaded.reader
    if let owner = unsafe loaded.owner { ensureAside().rowOwner = owner } else { aside?.rowOwner = nil }
  }

  /// Forgets the row, so that the next look comes from the core's snapshot.
  final func becomeFault() {
    unsafe row = nil
    if let aside {
      aside.rowOwner = nil
      aside.readError = nil
      state.remove(.unreadable)
      if aside.contended.isEmpty { self.aside = nil }
    }
  }

  /// Makes the row independent of the snapshot, for an object whose record is going.
  final func keepRow() {
    guard let row = unsafe awakenedRow(), aside?.rowOwner == nil else { return }
    let buffer = unsafe RowBuffer(copying: UnsafeRawBufferPointer(start: row.start, count: row.count))
    ensureAside().rowOwner = buffer
    unsafe self.row = unsafe RowReader(uncheckedStart: buffer.start, count: row.count)
  }

  // MARK: Values of any type

  /// The saved value of a slot, as this context knows it; `nil` when there is none or it cannot be read.
  final func baseValue(at slot: Int) -> PropertyValue? {
    guard let row = unsafe awakenedRow() else { return nil }
    do {
      return try unsafe row.propertyValue(of: entity.layout.fields[slot])
    } catch {
      noteUnreadable(error, slot)
      return nil
    }
  }

  /// The value of a slot as it is now; `nil` when it cannot be read, and for a required one that was never set.
  final func currentValue(at slot: Int) -> PropertyValue? { edits[slot] ?? baseValue(at: slot) }
}
