/// Values that were set and not saved yet, by slot: the side table over a row.
///
/// Costs nothing until the first edit.
package struct RowEdits: Sendable {
  private var values: [PropertyValue?] = []

  /// Makes a table without edits.
  package init() {}

  /// Whether nothing was edited.
  package var isEmpty: Bool { values.isEmpty }

  /// The edited value of a slot, or `nil` when it was not edited. Setting `nil` takes the edit back.
  package subscript(slot: Int) -> PropertyValue? {
    get { slot < values.count ? values[slot] : nil }
    set {
      if slot >= values.count {
        if newValue == nil { return }
        values.append(contentsOf: repeatElement(nil, count: slot + 1 - values.count))
      }
      values[slot] = newValue
      // An empty table is what callers test for, so edits that were all taken back leave one.
      while values.last == .some(nil) { values.removeLast() }
    }
  }

  /// The slots that were edited, in order.
  package var slots: [Int] { values.indices.filter { values[$0] != nil } }
}
