/// Who waits to commit, and who leads: a pure state machine.
///
/// Entries stand in the order in which they came. One of them leads at a time: it takes a group from the head of the
/// line, does the work of all in it, and hands over to whoever stands at the head then. The group is taken when the
/// leader is ready for it, so that who came while it woke up is in it.
struct CommitLine<Entry> {
  /// What an entry needs.
  enum Need: Sendable {
    /// A commit that survives the process: it need not wait for the device.
    case process
    /// A commit that survives the power: it needs a sync.
    case device
    /// The log for itself.
    case alone
  }

  /// Whether somebody leads.
  private(set) var isLed = false
  private var waiting: [(entry: Entry, need: Need)] = []

  /// The number of entries that wait.
  var count: Int { waiting.count }

  /// Lets somebody lead who does not stand in the line; only when nobody leads and nobody would be overtaken.
  ///
  /// - Returns: Whether that is so. If not, stand in the line.
  mutating func beginAtOnce() -> Bool {
    guard !isLed && waiting.isEmpty else { return false }
    isLed = true
    return true
  }

  /// Adds an entry at the end of the line.
  ///
  /// - Returns: Whether the entry leads, since nobody else does.
  mutating func append(_ entry: Entry, _ need: Need) -> Bool {
    waiting.append((entry, need))
    if isLed { return false }
    isLed = true
    return true
  }

  /// Takes a group from the head of the line, for its leader.
  ///
  /// That is the longest run of commits that need no sync; if there is none, every commit that waits. Such a run does
  /// not wait for a sync that others need, and whatever waits behind a commit that needs one shares it.
  mutating func takeGroup() -> [Entry] {
    let count = groupCount
    defer { waiting.removeFirst(count) }
    return waiting[..<count].map(\.entry)
  }

  private var groupCount: Int {
    guard let first = waiting.first else { return 0 }
    switch first.need {
    case .alone: return 1
    case .process: return waiting.firstIndex { $0.need != .process } ?? waiting.count
    case .device: return waiting.firstIndex { $0.need == .alone } ?? waiting.count
    }
  }

  /// Ends the lead, and gives who leads next: the head of the line, which stays there. `nil` when nobody waits.
  mutating func end() -> Entry? {
    isLed = !waiting.isEmpty
    return waiting.first?.entry
  }
}
