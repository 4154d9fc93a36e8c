/// What the graph keeps of one package of an archive.
struct ArchivedPackage: Equatable, Sendable {
  /// One use of another package's name.
  struct Dependency: Equatable, Sendable {
    var kind: DependencyKind
    var term: DependencyTerm
  }

  var name: String
  var version: String
  var architecture: String
  var section: String?
  /// As it stands: `Debian Games Team <pkg-games-devel@lists.alioth.debian.org>`.
  var maintainer: String?
  var priority: String?
  /// The first line of the description.
  var summary: String?
  var isEssential: Bool
  /// What it takes on disk, in units of 1024 bytes, as the archive estimates it.
  var installedSize: Int?
  /// What it takes to fetch, in bytes.
  var downloadSize: Int?
  /// By kind in the order of ``DependencyKind``, within one in the order of the field.
  var dependencies: [Dependency]
}

extension ArchivedPackage {
  /// The names of the fields that ``init(_:)`` reads.
  static let fieldNames =
    [
      "Package", "Version", "Architecture", "Section", "Maintainer", "Priority", "Description", "Essential",
      "Installed-Size", "Size",
    ] + DependencyKind.allCases.map(\.fieldName)

  /// Makes sense of a stanza.
  init(_ stanza: Stanza) throws(ArchiveError) {
    name = try stanza.required("Package").value
    version = try stanza.required("Version").value
    architecture = try stanza.required("Architecture").value
    section = stanza.text("Section")
    maintainer = stanza.text("Maintainer")
    priority = stanza.text("Priority")
    summary = stanza.text("Description").map { text in String(text.prefix { $0 != "\n" }) }
    isEssential = stanza.text("Essential") == "yes"
    installedSize = try stanza.number("Installed-Size")
    downloadSize = try stanza.number("Size")
    dependencies = []
    for kind in DependencyKind.allCases {
      guard let field = stanza[kind.fieldName] else { continue }
      dependencies += try DependencyParser.terms(of: field).map { Dependency(kind: kind, term: $0) }
    }
  }
}

extension Stanza {
  /// A field that every package has, and that is not empty.
  fileprivate func required(_ name: String) throws(ArchiveError) -> Field {
    guard let field = self[name] else { throw ArchiveError(line: line, message: "a paragraph without \(name)") }
    guard !field.value.isEmpty else { throw ArchiveError(line: field.line, message: "\(name) is empty") }
    return field
  }

  /// The value of a field; nothing when the field is absent or empty.
  fileprivate func text(_ name: String) -> String? {
    guard let value = self[name]?.value, !value.isEmpty else { return nil }
    return value
  }

  fileprivate func number(_ name: String) throws(ArchiveError) -> Int? {
    guard let field = self[name], !field.value.isEmpty else { return nil }
    guard let number = Int(field.value), number >= 0 else {
      throw ArchiveError(line: field.line, message: "\(name) is \"\(field.value)\", not a number of bytes or kilobytes")
    }
    return number
  }
}
