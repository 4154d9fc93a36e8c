import Testing
import Varve
import VarveLog

@Suite struct PersistenceErrorTests {
  @Test func `the description has code, message, place and cause`() {
    let error = PersistenceError(
      .missingValue, "name must have a value.",
      at: .init(entity: "Food", property: "name", record: RecordID(entity: 3, serial: 17), path: "a.varve"),
      cause: StoreError(.locked, "Held by another process."))
    #expect(
      "\(error)"
        == "missingValue: name must have a value. [Food.name  3/17  a.varve] (because of locked: Held by another "
        + "process.)")
  }

  @Test func `details stand below, each in a line`() {
    let inner = PersistenceError(.duplicateName, "Two.", details: [PersistenceError(.invalidName, "One.")])
    #expect(
      "\(PersistenceError(.invalidModel, "All.", details: [inner]))" == """
        invalidModel: All.
          - duplicateName: Two.
            - invalidName: One.
        """)
  }

  @Test func `a place is added without replacing what is known`() {
    let error = PersistenceError(.typeMismatch, "No.", at: .init(property: "name"))
    let located = error.located(
      .init(entity: "Food", property: "other", record: RecordID(entity: 1, serial: 2), path: "p"))
    #expect(
      located.location == .init(entity: "Food", property: "name", record: RecordID(entity: 1, serial: 2), path: "p"))
    #expect(located.code == .typeMismatch)
    #expect(located.message == "No.")
  }

  @Test func `corruption is one question, asked of the cause as well`() {
    #expect(PersistenceError(.corruptRow, "").isCorruption)
    #expect(PersistenceError(.corruptSchema, "").isCorruption)
    #expect(!PersistenceError(.newerFormat, "").isCorruption)
    #expect(PersistenceError(.notSupported, "", cause: StoreError(.corrupt, "")).isCorruption)
    #expect(!PersistenceError(.notSupported, "", cause: StoreError(.diskFull, "")).isCorruption)
    let nested = PersistenceError(.notSupported, "", cause: PersistenceError(.corruptRow, ""))
    #expect(nested.isCorruption)
  }

  @Test func `codes are told apart by name`() {
    #expect(PersistenceError.Code.corruptRow != .corruptSchema)
    #expect("\(PersistenceError.Code.corruptRow)" == "corruptRow")
  }
}
