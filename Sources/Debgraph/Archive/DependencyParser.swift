/// Reads the value of a dependency field.
///
/// ```
/// field       = group *("," group) [","]
/// group       = term *("|" term)
/// term        = name [":" qualifier] ["(" relation version ")"] ["[" architecture+ "]"] *("<" profile+ ">")
/// relation    = "<<" / "<=" / "=" / ">=" / ">>" / "<" / ">"
/// ```
///
/// See https://www.debian.org/doc/debian-policy/ch-relationships.html, section 7.1. `<` and `>` are the old forms of
/// `<=` and `>=`, as dpkg reads them. White space, line feeds of folded fields included, may stand between any two of
/// these.
struct DependencyParser {
  private let bytes: [UInt8]
  private var index = 0
  private var line: Int

  /// All terms of a field, in their order.
  static func terms(of field: Stanza.Field) throws(ArchiveError) -> [DependencyTerm] {
    var parser = DependencyParser(field)
    return try parser.field()
  }

  private init(_ field: Stanza.Field) {
    bytes = Array(field.value.utf8)
    line = field.line
  }

  private mutating func field() throws(ArchiveError) -> [DependencyTerm] {
    var terms: [DependencyTerm] = []
    var position = 0
    skipSpace()
    while index < bytes.count {
      var alternative = 0
      repeat {
        terms.append(try term(position: position, alternative: alternative))
        alternative += 1
      } while take("|")
      position += 1
      guard index < bytes.count else { break }
      guard take(",") else { throw unexpected("a comma, a bar or the end of the field") }
    }
    return terms
  }

  private mutating func term(position: Int, alternative: Int) throws(ArchiveError) -> DependencyTerm {
    let name = try word("the name of a package", isAllowed: isNameByte)
    guard let first = name.utf8.first, isAlphanumeric(first) else {
      throw error("\"\(name)\" is no name of a package: it has to begin with a letter or a digit")
    }
    var term = DependencyTerm(name: name, position: position, alternative: alternative)
    if take(":") { term.architectureQualifier = try word("an architecture behind the colon", isAllowed: isNameByte) }
    if take("(") { term.versionConstraint = try constraint(of: name) }
    var restrictions: [String] = []
    if take("[") { restrictions.append("[\(try list(upTo: "]"))]") }
    while take("<") { restrictions.append("<\(try list(upTo: ">"))>") }
    if !restrictions.isEmpty { term.restrictions = restrictions.joined(separator: " ") }
    return term
  }

  private mutating func constraint(of name: String) throws(ArchiveError) -> DependencyTerm.VersionConstraint {
    let start = index
    while index < bytes.count, [UInt8(ascii: "<"), UInt8(ascii: "="), UInt8(ascii: ">")].contains(bytes[index]) {
      index += 1
    }
    let relation: VersionRelation
    switch String(decoding: bytes[start..<index], as: UTF8.self) {
    case "<": relation = .earlierOrEqual
    case ">": relation = .laterOrEqual
    case let text:
      guard let known = VersionRelation(rawValue: text) else {
        throw error("the constraint on \(name) begins with \"\(text)\", not with one of <<, <=, =, >= and >>")
      }
      relation = known
    }
    skipSpace()
    let version = try word("a version", isAllowed: isVersionByte)
    guard take(")") else { throw unexpected("the closing parenthesis of the constraint on \(name)") }
    return DependencyTerm.VersionConstraint(relation: relation, version: version)
  }

  private mutating func list(upTo end: Unicode.Scalar) throws(ArchiveError) -> String {
    var words: [String] = []
    repeat {
      words.append(
        try word("a word before the closing \(end)", isAllowed: { isNameByte($0) || $0 == UInt8(ascii: "!") }))
    } while !take(end)
    return words.joined(separator: " ")
  }

  private mutating func word(
    _ expected: String, isAllowed: (UInt8) -> Bool
  ) throws(ArchiveError) -> String {
    let start = index
    while index < bytes.count, isAllowed(bytes[index]) { index += 1 }
    guard start < index else { throw unexpected(expected) }
    let word = String(decoding: bytes[start..<index], as: UTF8.self)
    skipSpace()
    return word
  }

  /// Takes one character with the space behind it, if it comes next.
  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
    index += 1
    skipSpace()
    return true
  }

  private mutating func skipSpace() {
    while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) {
      if bytes[index] == 0x0A { line += 1 }
      index += 1
    }
  }

  private func unexpected(_ expected: String) -> ArchiveError {
    let rest = String(decoding: bytes[index...], as: UTF8.self)
    guard let found = rest.first else { return error("the field ends where \(expected) should stand") }
    return error("\"\(found)\" stands where \(expected) should stand")
  }

  private func error(_ message: String) -> ArchiveError { ArchiveError(line: line, message: message) }
}

/// Debian's names have lower-case letters, digits, plus, minus and full stop; other archives have capitals and
/// underscores, too.
private func isNameByte(_ byte: UInt8) -> Bool {
  isAlphanumeric(byte) || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_")].contains(byte)
}

private func isVersionByte(_ byte: UInt8) -> Bool {
  isNameByte(byte) || byte == UInt8(ascii: "~") || byte == UInt8(ascii: ":")
}

private func isAlphanumeric(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
  case UInt8(ascii: "A")...UInt8(ascii: "Z"): true
  default: false
  }
}
