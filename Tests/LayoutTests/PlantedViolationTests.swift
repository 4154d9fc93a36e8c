import Testing

/// One planted violation at least for each rule, and beside it what looks like one and is none.
@Suite struct `A planted violation is found` {
  private func file(_ text: String, at path: String = "Sources/VarveLog/Log/Planted.swift") -> SourceFile {
    SourceFile(path: path, text: text)
  }

  private func lines(_ count: Int) -> String { String(repeating: "\n", count: count) }

  @Test func `when a file is one line too long`() {
    #expect(SizeRules.fileLength(path: "Sources/A.swift", text: lines(500)).isEmpty)
    #expect(SizeRules.fileLength(path: "Sources/A.swift", text: lines(501)).map(\.line) == [501])
    #expect(SizeRules.fileLength(path: "Sources/A.swift", text: lines(500) + "x").count == 1)
    #expect(SizeRules.fileLength(path: "Tests/A.swift", text: lines(700)).isEmpty)
    #expect(SizeRules.fileLength(path: "Tests/A.swift", text: lines(701)).count == 1)
  }

  @Test(arguments: [
    "func f() {", "init() {", "deinit {", "var x: Int {", "subscript(i: Int) -> Int {", "let c = {",
    "var x: Int {\n get { 1 }\n set {",
  ])
  func `when a body is one line too long`(head: String) {
    let tail = String(repeating: "\n}", count: head.contains("set {") ? 2 : 1)
    let fits = "class A {\n\(head)\(lines(68))\(tail)\n}"
    let exceeds = "class A {\n\(head)\(lines(69))\(tail)\n}"
    #expect(SizeRules.functionLength(file(fits)).isEmpty)
    #expect(SizeRules.functionLength(file(exceeds)).count == 1)
  }

  @Test func `when braces in strings and comments would mislead a scan`() {
    let text = "func f() { // }\n let a = \"}\"\n/* } */\(lines(68))\n}"
    #expect(SizeRules.functionLength(file(text)).map(\.line) == [1])
  }

  @Test(arguments: [
    ("let a = try! f()", 1), ("let a = try? f()", 0), ("let a = \"try! f()\" // try!", 0),
    ("fatalError()", 1), ("fatalError(\"the node has no parent\")", 0), ("preconditionFailure()", 1),
    ("precondition(a > b)", 1), ("precondition(a > b, \"a lies above b\")", 0), ("// fatalError()", 0),
  ])
  func `when something traps without a sentence`(text: String, count: Int) {
    #expect(CallRules.traps(file(text)).count == count)
  }

  @Test func `when a precondition of a test has no sentence, it is none`() {
    #expect(CallRules.traps(file("precondition(a > b)", at: "Tests/VarveLogTests/A.swift")).isEmpty)
  }

  @Test(arguments: [
    ("preconditionFailure(\"sentence\")", "Graph/A.swift", 1), ("fatalError(\"sentence\")", "Graph/A.swift", 1),
    ("trap(\"sentence\")", "Graph/A.swift", 0), ("precondition(a, \"sentence\")", "Graph/A.swift", 0),
    ("fatalError(message())", "Model/Trap.swift", 0),
  ])
  func `when a trap of the object layer is silent in a release build`(text: String, path: String, count: Int) {
    #expect(CallRules.silentTraps(file(text, at: "Sources/Varve/\(path)")).count == count)
    #expect(CallRules.silentTraps(file(text, at: "Sources/VarveLog/\(path)")).isEmpty)
  }

  @Test(arguments: [
    ("let a = Mutex(1)", 1), ("let a: Synchronization.Mutex<Int>", 1), ("import class Synchronization.Mutex", 1),
    ("let a = Lock(1) // not a Mutex", 0), ("let mutex = \"Mutex\"", 0),
  ])
  func `when a lock is one that the thread sanitizer does not see`(text: String, count: Int) {
    #expect(CallRules.mutex(file(text)).count == count)
  }

  @Test(arguments: [
    ("var g = SystemRandomNumberGenerator()", 1), ("var g: SystemRandomNumberGenerator", 1),
    ("let a = Int.random(in: 0..<9)", 1), ("let a = Int.random(in: 0..<9, using: &generator)", 0),
    ("let a = [1].shuffled()", 1), ("let a = [1].shuffled(using: &generator)", 0), ("b.shuffle()", 1),
    ("let a = b.randomElement()", 1), ("let a = drand48()", 1), ("let a = UUID()", 0),
  ])
  func `when a test draws randomness without a seed`(text: String, count: Int) {
    #expect(CallRules.unseededRandomness(file(text, at: "Tests/VarveLogTests/A.swift")).count == count)
    #expect(CallRules.unseededRandomness(file(text, at: "Sources/VarveTestSupport/A.swift")).count == count)
    #expect(CallRules.unseededRandomness(file(text, at: "Sources/VarveLog/Log/A.swift")).isEmpty)
  }

  @Test(arguments: [
    ("// TODO: later", 1), ("/// FIXME", 1), ("/* XXX */", 1), ("let a = 1 // TODO(anna): later", 1),
    ("// TODO(2026-01-31, anna): later", 0), ("let a = \"TODO\"", 0), ("// METODOS", 0),
  ])
  func `when a mark for later has no date`(text: String, count: Int) {
    #expect(CallRules.undatedMarks(file(text)).count == count)
  }

  @Test func `when a mark stands in a line of its own, at that line`() {
    #expect(CallRules.undatedMarks(file("let a = 1\n\n  // TODO: later\nlet b = 2\n")).map(\.line) == [3])
  }

  @Test(arguments: [
    ("final class A: @unchecked Sendable {\n}", 1),
    ("// It is fine.\nfinal class A: @unchecked Sendable {\n}", 1),
    ("// Sendable (node memory): edited only by the committer.\nfinal class A: @unchecked Sendable {\n}", 0),
    ("final class A: @unchecked Sendable {\n  // Sendable (node memory): edited by the committer.\n}", 0),
    ("final class A:\n  B, @unchecked Sendable\n{\n  // Sendable (node memory): edited by the committer.\n}", 0),
    (
      "/// A class.\n///\n/// Sendable (node memory): edited\n/// by the committer.\n@safe class A: @unchecked Sendable {}",
      0
    ),
    ("extension A: @unchecked Sendable {}", 1),
    ("// Sendable (lock): guarded.\nclass A: Sendable {}\nclass B: @unchecked Sendable {}", 1),
    ("final class A: Sendable {\n}", 0),
  ])
  func `when an unchecked Sendable has no proof`(text: String, count: Int) {
    #expect(CallRules.uncheckedSendable([file(text)]).count == count)
  }

  @Test(arguments: [
    ("class A {\n  nonisolated(unsafe) var b = 1\n}", 1), ("nonisolated(unsafe) var b = 1", 1),
    ("class A {\n  // Only under the lock.\n  private nonisolated(unsafe) var b = 1\n}", 0),
    ("class A {\n  nonisolated var b: Int { 1 }\n}", 0),
  ])
  func `when nobody says what keeps unchecked isolation safe`(text: String, count: Int) {
    #expect(CallRules.uncheckedIsolation(file(text)).count == count)
  }

  @Test func `when there are more than three kinds of unchecked Sendable`() {
    let texts = ["one", "two", "three", "four"].map {
      file("// Sendable (\($0)): it holds.\nfinal class A: @unchecked Sendable {\n}")
    }
    #expect(CallRules.uncheckedSendable(Array(texts[..<3])).isEmpty)
    #expect(CallRules.uncheckedSendable(texts).count == 4)
  }

  @Test(arguments: [
    ("public struct A {}", 1), ("/// A.\npublic struct A {}", 0), ("// A.\npublic struct A {}", 1),
    ("struct A { package init() {} }", 1), ("struct A { init() {} }", 0),
    ("/// A.\npackage enum A { case b }", 1), ("/// A.\npackage enum A {\n  /// B.\n  case b\n}", 0),
    ("enum A { case b }", 0), ("/// A.\npublic protocol A { func b() }", 1), ("protocol A { func b() }", 0),
    ("struct A { package(set) var b = 1 }", 0), ("struct A { public package(set) var b = 1 }", 1),
    ("/// A.\npublic struct A { var b: Int { public let c = 1 } }", 0), ("public import B", 0),
    ("#if DEBUG\npublic func a() {}\n#endif", 1), ("open class A {}", 1), ("public typealias A = B", 1),
  ])
  func `when a visible declaration has no documentation comment`(text: String, count: Int) {
    #expect(DocumentationRules.documentedDeclarations(file(text)).count == count)
  }
}
