/// Makes stanzas from bytes that arrive in pieces of any size, as pipes deliver them.
///
/// Holds one unfinished line and one unfinished stanza, both bounded, whatever the length of the input.
struct StanzaReader: Sendable {
  /// A line longer than this many bytes is an error. The longest of Debian 12 has 76 thousand.
  static let lineLengthMax = 1 << 20
  /// A stanza whose wanted fields hold more bytes than this is an error.
  static let stanzaLengthMax = 8 << 20

  /// The names of the fields to keep, by their lower-case form: field names have no case.
  private let wanted: [String: String]
  /// The bytes of the line that is not complete yet.
  private var pending: [UInt8] = []
  private var line = 0
  private var stanza: Stanza?
  private var stanzaLength = 0
  /// The names of all fields of the stanza, wanted or not, to find one that stands twice.
  private var names: Set<String> = []
  /// The field that continuation lines belong to; its name is `nil` while nobody wants it.
  private var field: (name: String?, value: [UInt8], line: Int)?

  /// Makes a reader that keeps the fields of these names and checks the rest.
  init(fields: [String]) {
    wanted = Dictionary(uniqueKeysWithValues: fields.map { ($0.lowercased(), $0) })
  }

  /// Takes the next bytes and returns the stanzas that they complete.
  mutating func read(_ bytes: some Sequence<UInt8>) throws(ArchiveError) -> [Stanza] {
    var finished: [Stanza] = []
    let searched = pending.count
    pending.append(contentsOf: bytes)
    var start = 0
    var from = searched
    while let end = pending[from...].firstIndex(of: UInt8(ascii: "\n")) {
      if let stanza = try takeLine(pending[start..<end]) { finished.append(stanza) }
      start = end + 1
      from = start
    }
    pending.removeSubrange(..<start)
    if pending.count > StanzaReader.lineLengthMax { throw tooLong(at: line + 1) }
    return finished
  }

  /// Takes the end of the input and returns the stanza that it completes.
  mutating func finish() throws(ArchiveError) -> Stanza? {
    if !pending.isEmpty {
      let last = pending
      pending = []
      if let stanza = try takeLine(last[...]) { return stanza }
    }
    return try finishStanza()
  }

  private func tooLong(at line: Int) -> ArchiveError {
    ArchiveError(line: line, message: "a line of more than \(StanzaReader.lineLengthMax) bytes")
  }

  private mutating func takeLine(_ bytes: ArraySlice<UInt8>) throws(ArchiveError) -> Stanza? {
    line += 1
    if bytes.count > StanzaReader.lineLengthMax { throw tooLong(at: line) }
    guard let first = bytes.first, !trimmed(bytes).isEmpty else { return try finishStanza() }
    if isSpace(first) {
      guard field != nil else {
        throw ArchiveError(line: line, message: "a continuation line, but no field before it in this paragraph")
      }
      if field?.name != nil { try keep([UInt8(ascii: "\n")] + trimmed(bytes)) }
      return nil
    }
    try finishField()
    try startField(bytes)
    return nil
  }

  private mutating func startField(_ bytes: ArraySlice<UInt8>) throws(ArchiveError) {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
      throw ArchiveError(line: line, message: "neither a field (there is no colon) nor a continuation line")
    }
    // Policy 5.1: "composed of US-ASCII characters excluding control characters, space, and colon", and "must not
    // begin with the comment character or with the hyphen character".
    let name = bytes[..<colon]
    guard let first = name.first, first != UInt8(ascii: "#"), first != UInt8(ascii: "-"),
      name.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw ArchiveError(line: line, message: "\"\(String(decoding: name, as: UTF8.self))\" is no name of a field")
    }
    let key = String(decoding: name, as: UTF8.self).lowercased()
    if stanza == nil { stanza = Stanza(line: line) }
    guard names.insert(key).inserted else {
      throw ArchiveError(
        line: line, message: "the field \(String(decoding: name, as: UTF8.self)) stands twice in this paragraph")
    }
    field = (wanted[key], [], line)
    if field?.name != nil { try keep(trimmed(bytes[(colon + 1)...])) }
  }

  private mutating func keep(_ bytes: some Collection<UInt8>) throws(ArchiveError) {
    stanzaLength += bytes.count
    if stanzaLength > StanzaReader.stanzaLengthMax {
      throw ArchiveError(line: line, message: "a paragraph of more than \(StanzaReader.stanzaLengthMax) bytes")
    }
    field?.value.append(contentsOf: bytes)
  }

  private mutating func finishField() throws(ArchiveError) {
    guard let (name, bytes, line) = field else { return }
    field = nil
    guard let name else { return }
    guard let value = String(validating: bytes, as: UTF8.self) else {
      throw ArchiveError(line: line, message: "the field \(name) is not UTF-8, which control files have to be")
    }
    stanza?.fields.append(Stanza.Field(name: name, value: value, line: line))
  }

  private mutating func finishStanza() throws(ArchiveError) -> Stanza? {
    try finishField()
    defer {
      stanza = nil
      stanzaLength = 0
      names.removeAll(keepingCapacity: true)
    }
    return stanza
  }
}

private func isSpace(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
}

private func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
  var bytes = bytes
  while let first = bytes.first, isSpace(first) { bytes.removeFirst() }
  while let last = bytes.last, isSpace(last) { bytes.removeLast() }
  return bytes
}
