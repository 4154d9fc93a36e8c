import CommandLineSupport
import VarveMaintenance

extension VarveTool {
  private static let json = Flag("json", "one JSON object in one line, for programs")

  /// `varve info`.
  static let info = Command(
    "info", "Show what a store is and how much it holds.",
    discussion: """
      The JSON object has these fields: bytes (of all files), clean (whether it was closed), cuts (file, offset, bytes,
      reason of what opening left out), entities (name, number, count of each), foreignRecords (of no entity of the
      schema), formatVersion, lastSequence (of the last commit), manifestIsDamaged, objects (as many as dump has lines),
      path, schemaVersion (null without a schema), segments (file, bytes, recordBytes, liveBytes of each),
      unlistedFiles (in its folders, but not its own), uuid, writer (who has it open for writing: name, pid and
      lastSequence; null for nobody). Later versions may add fields.

      The objects are not read. Exit code 2 when the store does not open, such as for damage in its log; see verify.
      """, [store, json]
  ) { arguments, console in
    let information = try InspectedStore(at: arguments[store]).information()
    console.output.write(arguments[json] ? try information.json() + "\n" : text(of: information))
    return .success
  }

  /// What a person reads.
  private static func text(of information: StoreInformation) -> String {
    var rows: [(String, String)] = [
      ("store", information.path.printable), ("UUID", "\(information.uuid)"),
      ("format", "version \(information.formatVersion)"),
      ("schema", information.schemaVersion.map { "version \($0)" } ?? "none: written through the engine alone"),
      ("state", state(of: information)), ("last commit", "\(information.lastSequence)"),
      ("on disk", size(information.byteCount)),
    ]
    rows += information.segments.map { ("", describe($0)) }
    rows.append((information.schemaVersion == nil ? "records" : "objects", grouped(information.objectCount)))
    let width = information.entities.map { grouped($0.count).count }.max() ?? 0
    rows += information.entities.map { ("", "\(padded(grouped($0.count), width))  \($0.name)") }
    if information.foreignRecordCount > 0 {
      rows.append(("foreign", "\(grouped(information.foreignRecordCount)) records of no entity of the schema"))
    }
    if information.usedSingleManifestBody { rows.append(("damage", "one of the two bodies of the manifest")) }
    rows += information.cuts.map { cut in
      ("cut off", "\(cut.file) offset \(cut.offset), \(grouped(cut.byteCount)) bytes: \(cut.reason)")
    }
    rows += information.unlistedFiles.map { ("not its own", $0.printable) }
    return rows.map { label, text in label + String(repeating: " ", count: 13 - label.count) + text + "\n" }.joined()
  }

  private static func state(of information: StoreInformation) -> String {
    guard let writer = information.writer else {
      return information.isClean ? "closed" : "left without being closed"
    }
    let place = writer.lastSequence.map { ", which has published commit \($0)" } ?? ""
    return "open for writing in \(writer.description.printable)\(place)"
  }

  private static func describe(_ segment: StoreInformation.Segment) -> String {
    let share =
      segment.recordByteCount == 0
      ? "no records yet"
      : "\(grouped(segment.liveByteCount)) of \(grouped(segment.recordByteCount)) bytes of records live"
    return "\(segment.file)  \(grouped(segment.byteCount)) bytes, \(share)"
  }
}
