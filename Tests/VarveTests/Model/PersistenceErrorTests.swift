import Foundation
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
        == "missingValue: name must have a value. [Food.name, 3/17, a.varve] (because of locked: Held by another "
        + "process.)")
  }

  @Test func `what the cause says again is said once, and what it adds is kept`() {
    let system = StoreError(.ioFailure, "Cannot read x: Input/output error (errno 5). Check the volume.")
    let engine = StoreError(
      .corrupt, "The log breaks off. Restore a copy.",
      at: .init(file: "x", offset: 7, sequence: CommitSequence(rawValue: 3)), cause: system)
    let wrapped = PersistenceError(engine, doing: "Opening p", path: "p")
    #expect(
      "\(wrapped)"
        == "damaged: Opening p failed: The log breaks off. Restore a copy. [p] (because of ioFailure: Cannot "
        + "read x: Input/output error (errno 5). Check the volume.)")
    let reworded = PersistenceError(.missingValue, "The log breaks off. Do something else.", cause: engine)
    #expect("\(reworded)".components(separatedBy: "breaks off").count == 2)
    let sameCode = PersistenceError(.duplicateKey, "Two shelves.", cause: StoreError(.duplicateKey, "Two records."))
    #expect("\(sameCode)" == "duplicateKey: Two shelves.")
    let placed = PersistenceError(.contention, "Nothing.", cause: engine)
    #expect("\(placed)".contains("(because of corrupt: The log breaks off. Restore a copy. [x, offset 7, sequence 3] "))
    let detail = PersistenceError(.missingValue, "One.", cause: system)
    let whole = PersistenceError(.validationFailed, "All.", details: [detail], cause: system)
    #expect("\(whole)".components(separatedBy: "Input/output").count == 2)
    struct Own: Error {}
    #expect("\(PersistenceError(.storeFailure, "Reading failed.", cause: Own()))".hasSuffix("(because of Own())"))
  }

  @Test func `it is shown to a person by its message`() {
    let error: any Error = PersistenceError(.missingValue, "The name is missing. Set it.", at: .init(property: "name"))
    #expect(error.localizedDescription == "The name is missing. Set it.")
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
