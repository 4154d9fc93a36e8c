import Foundation
import VarveLog

// The form of `varve info --json`: one object in one line, the keys sorted. Fields may be added, and none of these
// changes its name or meaning.
//
// | field | value |
// | --- | --- |
// | bytes | of all files of the store but the lock file |
// | clean | whether the last writer closed the store, and nothing was written since |
// | cuts | what opening left out: `file`, `offset`, `bytes`, `reason` each |
// | entities | the entities of the schema: `name`, `number`, `count` each |
// | foreignRecords | the number of records of no entity of the schema |
// | formatVersion | of the files |
// | lastSequence | of the last commit |
// | manifestIsDamaged | whether one of the two bodies of the manifest is damaged |
// | objects | the number of objects, which is that of the lines of `varve dump` |
// | path | as it was given |
// | schemaVersion | `null` where there is no schema |
// | segments | the segment files: `file`, `bytes`, `recordBytes`, `liveBytes` each |
// | unlistedFiles | files in the store's folders that are not its own |
// | uuid | of the store |
// | writer | who has it open for writing: `name`, `pid`, `lastSequence`, `null` each where it is not known; `null` for nobody |

extension StoreInformation: Encodable {
  private enum CodingKeys: String, CodingKey {
    case bytes, clean, cuts, entities, foreignRecords, formatVersion, lastSequence, manifestIsDamaged, objects, path
    case schemaVersion, segments, unlistedFiles, uuid, writer
  }

  /// Encodes all fields, also those without a value.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(byteCount, forKey: .bytes)
    try container.encode(isClean, forKey: .clean)
    try container.encode(cuts.map(CutForm.init), forKey: .cuts)
    try container.encode(entities.map(EntityForm.init), forKey: .entities)
    try container.encode(foreignRecordCount, forKey: .foreignRecords)
    try container.encode(formatVersion, forKey: .formatVersion)
    try container.encode(lastSequence.rawValue, forKey: .lastSequence)
    try container.encode(usedSingleManifestBody, forKey: .manifestIsDamaged)
    try container.encode(objectCount, forKey: .objects)
    try container.encode(path, forKey: .path)
    try container.encode(schemaVersion, forKey: .schemaVersion)
    try container.encode(segments.map(SegmentForm.init), forKey: .segments)
    try container.encode(unlistedFiles, forKey: .unlistedFiles)
    try container.encode(uuid.description, forKey: .uuid)
    try container.encode(writer.map(WriterForm.init), forKey: .writer)
  }

  /// The information as one JSON object in one line.
  package func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  private struct CutForm: Encodable {
    let file: String
    let offset: UInt64
    let bytes: UInt64
    let reason: String

    init(_ cut: Cut) {
      file = cut.file
      offset = cut.offset
      bytes = cut.byteCount
      reason = cut.reason
    }
  }

  private struct WriterForm: Encodable {
    let name: String?
    let pid: Int32?
    let lastSequence: UInt64?

    private enum CodingKeys: String, CodingKey {
      case name, pid, lastSequence
    }

    init(_ writer: Writer) {
      name = writer.processName
      pid = writer.processID
      lastSequence = writer.lastSequence
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      try container.encode(pid, forKey: .pid)
      try container.encode(lastSequence, forKey: .lastSequence)
    }
  }

  private struct EntityForm: Encodable {
    let name: String
    let number: UInt16
    let count: Int

    init(_ entity: Entity) {
      name = entity.name
      number = entity.number
      count = entity.count
    }
  }

  private struct SegmentForm: Encodable {
    let file: String
    let bytes: UInt64
    let recordBytes: Int
    let liveBytes: Int

    init(_ segment: Segment) {
      file = segment.file
      bytes = segment.byteCount
      recordBytes = segment.recordByteCount
      liveBytes = segment.liveByteCount
    }
  }
}
