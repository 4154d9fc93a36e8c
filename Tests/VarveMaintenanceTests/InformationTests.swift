import Foundation
import Testing
import Varve
import VarveLog
import VarveTestSupport

@testable import VarveMaintenance

@Suite struct `Information about a store` {
  @Test func `names what the store is and counts what it holds`() throws {
    let store = SampleStore()
    try store.fill()
    let information = try store.inspected().information()
    #expect(information.path == store.path)
    #expect(information.formatVersion == StoreFormat.version)
    #expect(information.isClean)
    // Schema, two blocks of serials, four objects, and the serials that the close returned.
    #expect(information.lastSequence == CommitSequence(rawValue: 8))
    #expect(information.schemaVersion == 1)
    #expect(
      information.entities == [.init(name: "Food", number: 1, count: 3), .init(name: "Shelf", number: 2, count: 1)])
    #expect(information.objectCount == 4)
    #expect(try store.dump().lines.count == information.objectCount)
    #expect(information.foreignRecordCount == 0)
    #expect(information.cuts == [] && information.unlistedFiles == [] && !information.usedSingleManifestBody)
  }

  @Test func `adds up the files as they are, and only the store's own`() throws {
    let store = SampleStore()
    try store.fill()
    let folder = try store.fileSystem.openDirectory(at: store.path)
    try folder.put([1, 2, 3], in: "notes.txt")
    try folder.openDirectory("segments").put([1, 2, 3], in: "0000000000000077.log")
    let information = try store.inspected().information()
    #expect(information.unlistedFiles == ["notes.txt", "segments/0000000000000077.log"])
    let image = try StoreImage(of: store.path, on: store.fileSystem)
    let own = image.files.filter { !information.unlistedFiles.contains($0.key) }
    #expect(information.byteCount == UInt64(own.values.reduce(0) { $0 + $1.count }))
    #expect(information.segments.map(\.file) == own.keys.filter { $0.hasPrefix("segments/") }.sorted())
    for segment in information.segments { #expect(segment.byteCount == UInt64(own[segment.file]?.count ?? 0)) }
  }

  @Test func `knows the live bytes of each segment, as the writer does`() async throws {
    let store = SampleStore()
    try store.fill()
    let writer = try LogStore.beginOpening(at: store.path, fileSystem: store.fileSystem).finish { _ in nil }
    defer { try? writer.close() }
    for serial in [1, 2, 2, 3] as [UInt64] {
      try await writer.commit { try $0.put(store.id(SampleStore.food, serial), store.row("New")) }
    }
    try await writer.compact()
    try await writer.commit { try $0.delete(store.id(SampleStore.food, 1)) }
    let information = try store.inspected().information()
    let known = writer.statistics().segments
    #expect(known.count >= 2)
    for segment in known {
      let shown = try #require(information.segments.first { $0.file == segment.file })
      #expect(shown.liveByteCount == segment.liveByteCount, "\(segment.file)")
      #expect(shown.recordByteCount == segment.recordByteCount, "\(segment.file)")
    }
    #expect(known.contains { $0.liveByteCount > 0 && $0.liveByteCount < $0.recordByteCount })
    #expect(!information.isClean)
  }

  @Test func `tells what opening leaves out`() throws {
    let store = SampleStore()
    try store.fill()
    let container = try store.open()
    let context = container.newBackgroundContext()
    let food = try context.insert(entityNamed: "Food")
    food["name"] = "Salt"
    try context.save(durability: .system)
    var image = try StoreImage(of: store.path, on: store.fileSystem)
    let layout = try LogLayout(of: image)
    let active = try #require(layout.active)
    let last = try #require(active.frames.last)
    image.flip(active.path, at: last.end - 8)
    let damaged = SampleStore(fileSystem: try image.fileSystem(at: store.path), path: store.path)
    let information = try damaged.inspected().information()
    #expect(information.cuts.count == 1)
    #expect(information.cuts.first?.file == active.path)
    #expect(information.cuts.first?.offset == UInt64(last.offset))
    #expect(information.cuts.first?.byteCount ?? 0 > 0 && information.cuts.first?.reason.isEmpty == false)
    #expect(information.lastSequence == CommitSequence(rawValue: last.header.sequence.rawValue - 1))
    try container.close()
  }

  @Test func `tells when one of the two bodies of the manifest is damaged`() throws {
    let store = SampleStore()
    try store.fill()
    var image = try StoreImage(of: store.path, on: store.fileSystem)
    image.flip("manifest", at: 40)
    let damaged = SampleStore(fileSystem: try image.fileSystem(at: store.path), path: store.path)
    #expect(try damaged.inspected().information().usedSingleManifestBody)
  }

  @Test func `counts all records where there is no schema, and foreign ones where there is`() throws {
    let plain = SampleStore()
    try plain.commit {
      try $0.put(plain.id(3, 17), [1])
      try $0.put(plain.id(4, 1), [1])
    }
    let information = try plain.inspected().information()
    #expect(information.schemaVersion == nil && information.entities == [])
    #expect(information.objectCount == 2 && information.foreignRecordCount == 0)

    let store = SampleStore()
    try store.fill()
    try store.commit { try $0.put(store.id(9, 1), [1]) }
    #expect(try store.inspected().information().foreignRecordCount == 1)
    #expect(try store.inspected().information().objectCount == 4)
  }

  @Test func `has a JSON form with these fields and no others`() throws {
    let store = SampleStore()
    try store.fill()
    let information = try store.inspected().information()
    let segment = try #require(information.segments.first)
    #expect(information.segments.count == 1)
    let segments =
      #"[{"bytes":\#(segment.byteCount),"file":"segments/0000000000000001.log","liveBytes":\#(segment.liveByteCount),"#
      + #""recordBytes":\#(segment.recordByteCount)}]"#
    #expect(
      try information.json()
        == #"{"bytes":\#(information.byteCount),"clean":true,"cuts":[],"entities":[{"count":3,"name":"Food","number":1},"#
        + #"{"count":1,"name":"Shelf","number":2}],"foreignRecords":0,"formatVersion":3,"lastSequence":8,"#
        + #""manifestIsDamaged":false,"objects":4,"path":"sample.varve","schemaVersion":1,"segments":\#(segments),"#
        + #""unlistedFiles":[],"uuid":"\#(information.uuid)","writer":null}"#)
    var other = information
    other.schemaVersion = nil
    other.writer = .init(description: "PID 7 (me)", processID: 7, processName: "me", lastSequence: 8)
    #expect(try other.json().hasSuffix(#""writer":{"lastSequence":8,"name":"me","pid":7}}"#))
    other.writer = .init(description: "another process")
    #expect(try other.json().hasSuffix(#""writer":{"lastSequence":null,"name":null,"pid":null}}"#))
    other.cuts = [.init(file: "a\"b", offset: 1, byteCount: 2, reason: "c")]
    #expect(try other.json().contains(#""cuts":[{"bytes":2,"file":"a\"b","offset":1,"reason":"c"}]"#))
    #expect(try other.json().contains(#""schemaVersion":null"#))
  }
}
