/// Everything that a reader of the store sees: a value of a few words, whose copies share their nodes.
///
/// Copying it says nothing about how long the nodes live: only a registered ``Snapshot`` keeps them.
package struct StoreState: Sendable {
  /// Where the newest version of each record stands.
  package var objects = ObjectTable()
  /// The keys of all indexes.
  package var index = OrderedIndex()
  /// Which segment the slot of a location stands for.
  package var slots = SlotTable()
  /// The last commit.
  package var sequence = CommitSequence.zero
  /// Rises when segments are retired: then rows must be looked up again before an older snapshot goes.
  package var retirementCount: UInt64 = 0
  /// Whether every read compares the checksum.
  package var verifiesEveryRead = false

  /// The state of a store that holds nothing.
  package init() {}
}
