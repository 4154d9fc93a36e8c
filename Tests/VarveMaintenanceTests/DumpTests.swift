import Foundation
import Testing
import Varve
import VarveLog
import VarveMaintenance
import VarveTestSupport

@Suite struct `A dump` {
  @Test func `has one object a line, each a JSON object`() throws {
    let store = SampleStore()
    try store.fill()
    try store.change { context in
      let food = try context.insert(entityNamed: "Food")
      food["name"] = "Salt \"fine\"\n"
      food["expiryDate"] = .date(Date(timeIntervalSinceReferenceDate: 818_553_600))
      food["photo"] = .data(Data("hi".utf8))
    }
    let (lines, findings) = try store.dump()
    #expect(findings.isEmpty)
    // Commit 1 is the schema; a block of serials comes before the first object of each entity, and is returned at
    // each close.
    #expect(
      lines == [
        #"{"id":"Food/1","entity":"Food","version":5,"values":{"name":"Milk","expiryDate":null,"photo":null,"barcode":"4006381333931","shelf":{"$ref":"Shelf/1"}}}"#,
        #"{"id":"Food/2","entity":"Food","version":6,"values":{"name":"Cheese","expiryDate":null,"photo":null,"barcode":null,"shelf":{"$ref":"Shelf/1"}}}"#,
        #"{"id":"Food/3","entity":"Food","version":7,"values":{"name":"Bread","expiryDate":null,"photo":null,"barcode":null,"shelf":null}}"#,
        #"{"id":"Food/4","entity":"Food","version":10,"values":{"name":"Salt \"fine\"\n","expiryDate":"2026-12-10T00:00:00.000Z","photo":{"$data":"aGk="},"barcode":null,"shelf":null}}"#,
        #"{"id":"Shelf/1","entity":"Shelf","version":3,"values":{"name":"Fridge"}}"#,
      ])
    #expect(try store.inspected().objectCount == lines.count)
  }

  @Test func `stops when its taker has enough`() throws {
    let store = SampleStore()
    try store.fill()
    var count = 0
    try store.inspected().dump(
      report: { Issue.record("\($0.line)") },
      take: { _ in
        count += 1
        return count < 2
      })
    #expect(count == 2)
  }

  @Test func `shows one state, whatever is committed meanwhile`() throws {
    let store = SampleStore()
    try store.fill()
    let container = try store.open()
    let inspected = try store.inspected()
    let before = try inspected.dumped()
    let context = container.newBackgroundContext()
    let food = try context.insert(entityNamed: "Food")
    food["name"] = "Salt"
    try context.save()
    #expect(try inspected.dumped() == before)
    #expect(try store.dump().lines.count == before.lines.count + 1)
    try container.close()
  }

  // MARK: Damage

  @Test func `leaves out what is no row, says so, and goes on`() throws {
    let store = SampleStore()
    try store.fill()
    let whole = try store.dump().lines
    try store.commit { try $0.put(store.id(SampleStore.food, 2), [1, 2, 3]) }
    let (lines, findings) = try store.dump()
    #expect(lines == [whole[0], whole[2], whole[3]])
    let finding = try #require(findings.first)
    #expect(findings.count == 1)
    #expect(finding.severity == .corrupt)
    #expect(finding.message == "Food/2: a row of Food cannot be right: it has 3 bytes and needs at least 19")
    #expect(try store.record(at: finding.location)?.id == store.id(SampleStore.food, 2))
    #expect(finding.location.sequence == CommitSequence(rawValue: 9))
  }

  @Test func `leaves out a record that rotted since the store was opened`() throws {
    let store = SampleStore()
    try store.fill()
    let whole = try store.dump().lines
    let inspected = try store.inspected()
    var image = try StoreImage(of: store.path, on: store.fileSystem)
    let path = try #require(image.segmentPaths.first)
    let text = try #require(image.files[path]?.firstRange(of: Array("Cheese".utf8)))
    image.flip(path, at: text.lowerBound, mask: 1)
    try image.write(to: store.path, on: store.fileSystem)
    let (lines, findings) = try inspected.dumped()
    #expect(lines == [whole[0], whole[2], whole[3]])
    #expect(findings.count == 1)
    #expect(findings.first?.severity == .corrupt)
    #expect(findings.first?.location.record == store.id(SampleStore.food, 2))
    #expect(findings.first?.location.file == path)
  }

  @Test func `reports records that belong to no entity, and leaves them out`() throws {
    let store = SampleStore()
    try store.fill()
    let whole = try store.dump().lines
    try store.commit {
      try $0.put(store.id(9, 5), [1])
      try $0.put(store.id(9, 7), [2])
    }
    let (lines, findings) = try store.dump()
    #expect(lines == whole)
    #expect(findings.map(\.message) == ["2 records of entity 9, which the schema does not have; the first is 9/5"])
    #expect(findings.allSatisfy { $0.severity == .inconsistent })
    #expect(try findings.first.flatMap { try store.record(at: $0.location) }?.id == store.id(9, 5))
  }

  // MARK: Schema

  @Test func `of the schema reads back as the schema`() throws {
    let store = SampleStore()
    try store.fill()
    let text = try #require(try store.inspected().schemaDump())
    #expect(!text.contains("\n"))
    #expect(try Schema(encoded: Array(text.utf8)) == Schema(SampleStore.model()))
  }

  @Test func `without a schema shows records by their IDs`() throws {
    let store = SampleStore()
    try store.commit {
      try $0.put(store.id(3, 17), Array("hi".utf8))
      try $0.put(store.id(0, 2), [])
    }
    let inspected = try store.inspected()
    #expect(inspected.schema == nil)
    #expect(try inspected.schemaDump() == nil)
    let (lines, findings) = try inspected.dumped()
    #expect(
      lines == [
        #"{"id":"0/2","version":1,"body":{"$data":""}}"#, #"{"id":"3/17","version":1,"body":{"$data":"aGk="}}"#,
      ])
    #expect(findings.isEmpty)
    #expect(inspected.objectCount == 2)
  }
}

@Suite struct `A dump of changes` {
  private static func changes(of store: SampleStore, since: UInt64) throws -> [String] {
    var lines: [String] = []
    try store.inspected().dumpChanges(
      since: since, report: { Issue.record("\($0.line)") },
      take: { line in
        lines.append(line)
        return true
      })
    return lines
  }

  @Test func `has what is new, what was deleted, and where to go on`() throws {
    let store = SampleStore()
    try store.fill()
    let before = try #require(try Self.changes(of: store, since: 0).last)
    #expect(try Self.changes(of: store, since: 0).count == 5)
    #expect(before.hasPrefix(#"{"sequence":"#))
    let sequence = try #require(UInt64(before.filter(\.isNumber)))
    #expect(try Self.changes(of: store, since: sequence) == [before])
    try store.commit { batch in
      try batch.put(store.id(SampleStore.food, 1), store.row("Oat milk"))
      try batch.delete(store.id(SampleStore.food, 2))
    }
    let next = sequence + 1
    #expect(
      try Self.changes(of: store, since: sequence) == [
        #"{"id":"Food/1","entity":"Food","version":\#(next),"values":{"name":"Oat milk","expiryDate":null,"photo":null,"barcode":null,"shelf":null}}"#,
        #"{"id":"Food/2","deleted":true,"version":\#(next)}"#, #"{"sequence":\#(next)}"#,
      ])
    let error = #expect(throws: StoreError.self) { try Self.changes(of: store, since: next + 1) }
    #expect(error?.code == .invalidArgument)
  }

  @Test func `does not say where to go on when an object is damaged`() throws {
    let store = SampleStore()
    try store.fill()
    try store.commit { try $0.put(store.id(SampleStore.food, 2), [1, 2, 3]) }
    var lines: [String] = []
    var findings: [Finding] = []
    try store.inspected().dumpChanges(
      since: 0, report: { findings.append($0) },
      take: { line in
        lines.append(line)
        return true
      })
    #expect(findings.count == 1 && findings.first?.severity == .corrupt)
    #expect(lines.count == 3)
    #expect(!lines.contains { $0.contains("sequence") })
  }
}
