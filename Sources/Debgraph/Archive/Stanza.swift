/// One paragraph of an archive's index: the fields of one package.
struct Stanza: Equatable, Sendable {
  /// One field, its value without the space around it. The lines of a folded value are joined by line feeds.
  struct Field: Equatable, Sendable {
    var name: String
    var value: String
    /// The line on which the field begins, counted from 1.
    var line: Int
  }

  /// The line on which the stanza begins.
  var line: Int
  /// In the order of the text, only those that were asked for.
  var fields: [Field] = []

  /// The field of a name, whatever its case.
  subscript(name: String) -> Field? {
    fields.first { $0.name == name } ?? fields.first { $0.name.lowercased() == name.lowercased() }
  }
}

/// Text that is not what the grammar of Debian's control files allows, and the line on which it stands.
///
/// See https://www.debian.org/doc/debian-policy/ch-controlfields.html, section 5.1.
struct ArchiveError: Error, Equatable, Sendable, CustomStringConvertible {
  var line: Int
  var message: String

  /// As compilers say it.
  var description: String { "line \(line): \(message)" }
}
