/// What a context knows of an object, apart from its values.
@usableFromInline package struct ObjectState: OptionSet, Sendable {
  /// The flags.
  @usableFromInline package let rawValue: UInt8
  /// Makes a state of flags.
  @usableFromInline package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Made in this context and never saved.
  package static let inserted = ObjectState(rawValue: 1)
  /// Deleted in this context and not saved yet.
  package static let deleted = ObjectState(rawValue: 2)
  /// Others deleted it, and this context has merged that. The values are the last ones.
  package static let deletedUpstream = ObjectState(rawValue: 4)
  /// No longer part of a context: its insertion was rolled back or its deletion saved, or the context was reset.
  package static let detached = ObjectState(rawValue: 8)
  /// Stands in the context's list of changed objects.
  package static let listed = ObjectState(rawValue: 16)
  /// Has edits.
  @usableFromInline package static let edited = ObjectState(rawValue: 32)
  /// The row could not be read.
  package static let unreadable = ObjectState(rawValue: 64)
}
