import Testing
import VarveTestSupport

/// The soak program itself, for as long as a test may take. At full size it is run by hand: `varve-soak kills` and
/// `varve-soak damage`.
@Suite(.serialized) struct SoakTests {
  private static func run(_ arguments: [String]) throws -> (output: [String], ending: ChildProcess.Ending) {
    let child = try ChildProcess.run(ChildProcess.path(ofProduct: "varve-soak"), arguments)
    if !child.errorOutput.isEmpty { print(child.errorOutput) }
    return (child.output.split(separator: "\n").map(String.init), child.ending)
  }

  @Test func `what a killed process acknowledged is there`() throws {
    let (output, ending) = try Self.run(["kills", "--count", "8", "--seed", "5"])
    #expect(ending == .exit(0), "\(output)")
    #expect(output.first == "kills: 8, seed 5")
    #expect(output.last == "lost 0, wrong 0, trapped 0")
    #expect(output.contains { $0.contains("killed while writing") })
  }

  @Test(.enabled(if: Sanitizer.current == nil, "the address space cannot be limited under a sanitizer"))
  func `no damage makes a process with little memory crash, hang or err`() throws {
    let (output, ending) = try Self.run(["damage", "--stride", "61"])
    #expect(ending == .exit(0), "\(output)")
    #expect(output.filter { $0.contains("damages") }.count == 4)
    #expect(output.last == "wrong 0, crashed 0, hung 0")
  }

  @Test func `records that are overwritten again and again do not fill the disk`() throws {
    let (output, _) = try Self.run(["hot-keys", "--seconds", "6", "--records", "2000", "--durability", "system"])
    #expect(output.first == "hot keys: 6 s, 2000 records, system, seed 1")
    #expect(output.last?.hasPrefix("size kept") == true, "\(output)")
  }

  @Test func `each view of a store that another process writes and compacts is one commit`() throws {
    let (output, ending) = try Self.run(["follow", "--seconds", "4", "--seed", "7"])
    #expect(ending == .exit(0), "\(output)")
    #expect(output.first == "follow: 4 s, seed 7")
    #expect(output.last == "wrong 0, failed 0", "\(output)")
  }

  @Test func `a count that makes no sense is refused`() throws {
    let (output, ending) = try Self.run(["kills", "--count", "0"])
    #expect(ending == .exit(64))
    #expect(output.isEmpty)
  }
}
