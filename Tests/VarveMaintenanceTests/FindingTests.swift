import Testing
import VarveLog
import VarveMaintenance

@Suite struct `A finding` {
  @Test func `is one line of fields that are separated by two spaces`() {
    let place = StoreError.Location(
      file: "segments/0000000000000002.log", offset: 81920, sequence: CommitSequence(rawValue: 4711))
    #expect(
      Finding(.corrupt, "payload checksum 0x1c3f expected 0x88a0", at: place).line
        == "corrupt  segments/0000000000000002.log  offset 81920  sequence 4711  payload checksum 0x1c3f expected 0x88a0"
    )
    #expect(Finding(.inconsistent, "no place").line == "inconsistent  no place")
  }

  @Test func `is no defect when it is only a note`() {
    #expect(!Finding(.note, "a torn tail").isDefect)
    #expect(Finding(.corrupt, "rot").isDefect && Finding(.inconsistent, "a contradiction").isDefect)
  }

  @Test func `stays one line and commands no terminal, whatever a file is called`() {
    let finding = Finding(.note, "not a file of the store", at: .init(file: "a\nOK\u{1B}[2J\u{9B}\u{2028}é"))
    #expect(finding.line == "note  a\\u{a}OK\\u{1b}[2J\\u{9b}\\u{2028}é  not a file of the store")
  }
}
