import Varve
package import VarveLog

/// What there is to know about a store without reading its objects: what `varve info` shows.
package struct StoreInformation: Equatable, Sendable {
  /// An entity of the schema.
  package struct Entity: Equatable, Sendable {
    /// Its name.
    package var name: String
    /// The entity part of its record IDs.
    package var number: UInt16
    /// How many objects it has.
    package var count: Int
  }

  /// A segment file.
  package struct Segment: Equatable, Sendable {
    /// The file, relative to the store.
    package var file: String
    /// The size of the file; part of it may be room for commits to come.
    package var byteCount: UInt64
    /// Bytes of its records, with their headers. 0 in a segment that is prepared for later.
    package var recordByteCount: Int
    /// Bytes of those records that are the newest of their IDs.
    package var liveByteCount: Int
  }

  /// Bytes that are not part of the log.
  package struct Cut: Equatable, Sendable {
    /// The file, relative to the store.
    package var file: String
    /// The first of the bytes.
    package var offset: UInt64
    /// How many they are.
    package var byteCount: UInt64
    /// Why they are no commit.
    package var reason: String
  }

  /// Who has the store open for writing.
  package struct Writer: Equatable, Sendable {
    /// For people: process ID and name of the program.
    package var description: String
    /// The process ID, if it is known.
    package var processID: Int32?
    /// The name of the program, if it is known.
    package var processName: String?
    /// The last commit that it has published, if it is known.
    package var lastSequence: UInt64?
  }

  /// The store's folder, as it was given.
  package var path: String
  /// Tells the store from all others.
  package var uuid: StoreUUID
  /// The version of the format of its files.
  package var formatVersion: UInt32
  /// Whether the last program that wrote to it closed it, and nothing was written since.
  package var isClean: Bool
  /// Who has the store open for writing; `nil` when nobody has.
  package var writer: Writer?
  /// The last commit; where a writer says how far it is, up to that.
  package var lastSequence: CommitSequence
  /// Which of the store's schemas is in force; `nil` when it has none.
  package var schemaVersion: Int?
  /// The number of lines that a dump has: objects of the entities, or of all records where there is no schema.
  package var objectCount: Int
  /// The entities of the schema, by number.
  package var entities: [Entity]
  /// Records of no entity of the schema; 0 where there is no schema.
  package var foreignRecordCount: Int
  /// Bytes of all files of the store but the lock file.
  package var byteCount: UInt64
  /// The segments, by number.
  package var segments: [Segment]
  /// What opening left out: the remains of commits that never succeeded.
  package var cuts: [Cut]
  /// Whether one of the two bodies of the manifest is damaged.
  package var usedSingleManifestBody: Bool
  /// Files in the store's folders that are not its own.
  package var unlistedFiles: [String]
}

extension InspectedStore {
  /// Gathers what there is to know, as of one commit.
  ///
  /// - Throws: ``StoreError`` when the files cannot be looked at.
  /// - Complexity: O(segments + entities).
  package func information() throws(StoreError) -> StoreInformation {
    var shown = self
    var attempt = 0
    while true {
      let files = try StoreFiles(at: path, fileSystem, without: shown.report.unlistedFiles)
      // A segment that is gone was compacted away since: then files and state are of two moments.
      let isOfOneMoment = shown.store.statistics().segments.allSatisfy { files.sizes[$0.file] != nil }
      if isOfOneMoment || attempt == InspectedStore.lookCountMax { return shown.information(files) }
      attempt += 1
      // Not refreshed: what opening found out is shown as well, and has to be of the same moment.
      do { shown = try InspectedStore(at: path, fileSystem: fileSystem) } catch {
        throw error as? StoreError ?? StoreError(.corrupt, "\(error)", at: .init(file: path), cause: error)
      }
    }
  }

  private static let lookCountMax = 20

  private func information(_ files: StoreFiles) -> StoreInformation {
    let known = Dictionary(uniqueKeysWithValues: store.statistics().segments.map { ($0.file, $0) })
    let segments = files.sizes.filter { $0.key.hasPrefix(StoreLayout.segmentFolder) }
      .map { file, size in
        StoreInformation.Segment(
          file: file, byteCount: size, recordByteCount: known[file]?.recordByteCount ?? 0,
          liveByteCount: known[file]?.liveByteCount ?? 0)
      }
    let entities = (schema?.entities ?? []).map {
      StoreInformation.Entity(name: $0.name, number: $0.number, count: snapshot.count(ofEntity: $0.number))
    }
    return StoreInformation(
      path: path, uuid: store.uuid, formatVersion: StoreFormat.version, isClean: report.wasClean,
      writer: report.writer.map(StoreInformation.Writer.init), lastSequence: snapshot.sequence,
      schemaVersion: schema?.version, objectCount: objectCount,
      entities: entities.sorted { $0.number < $1.number },
      foreignRecordCount: foreignEntities.reduce(0) { $0 + snapshot.count(ofEntity: $1) },
      byteCount: files.byteCount, segments: segments.sorted { $0.file < $1.file },
      cuts: report.cuts.map {
        StoreInformation.Cut(file: $0.file, offset: $0.offset, byteCount: $0.byteCount, reason: $0.reason)
      },
      usedSingleManifestBody: report.usedSingleManifestBody, unlistedFiles: report.unlistedFiles)
  }

  /// The number of objects: of the schema's entities, or of all records where there is no schema.
  package var objectCount: Int {
    guard let schema else { return snapshot.count }
    return schema.entities.reduce(0) { $0 + snapshot.count(ofEntity: $1.number) }
  }

  /// Entities that have records and that the schema does not know. Empty where there is no schema.
  var foreignEntities: [UInt16] {
    guard let schema else { return [] }
    return snapshot.entities.filter { $0 != ReservedRecord.entity && schema.entity(numbered: $0) == nil }
  }
}

extension StoreInformation.Writer {
  fileprivate init(_ writer: StoreWriter) {
    self.init(
      description: writer.description, processID: writer.processID, processName: writer.processName,
      lastSequence: writer.lastSequence?.rawValue)
  }
}
