/// Values that were set and not saved yet, by slot: the side table over a row.
///
/// Costs nothing until the first edit.
package struct RowEdits: Sendable {
  private var values: ContiguousArray<PropertyValue?> = []
  private var count = 0

  /// Most entities have no more slots, so that the first edit takes all the memory there will be.
  private static let firstCapacity = 12

  /// Makes a table without edits.
  package init() {}

  /// Whether nothing was edited.
  package var isEmpty: Bool { count == 0 }

  /// The edited value of a slot, or `nil` when it was not edited. Setting `nil` takes the edit back.
  package subscript(slot: Int) -> PropertyValue? {
    get { slot < values.count ? values[slot] : nil }
    set {
      if slot >= values.count {
        if newValue == nil { return }
        if values.isEmpty { values.reserveCapacity(max(slot + 1, RowEdits.firstCapacity)) }
        while values.count <= slot { values.append(nil) }
      }
      count += (newValue == nil ? 0 : 1) - (values[slot] == nil ? 0 : 1)
      values[slot] = newValue
    }
  }

  /// The slots that were edited, in order.
  package var slots: [Int] { isEmpty ? [] : values.indices.filter { values[$0] != nil } }
}
