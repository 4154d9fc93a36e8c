import Foundation
import Testing
import Varve
import VarveLog
import VarveTestSupport

@testable import VarveTool

/// Stores that are damaged or contradict themselves.
@Suite struct `The tool on a damaged store` {
  private let segment = "segments/0000000000000001.log"

  @Test func `verify prints a line for each finding, with its place, and their number`() throws {
    let folder = try ToolFolder()
    try folder.fill()
    var layout: LogLayout?
    try folder.damage { image in
      let whole = try LogLayout(of: image)
      layout = whole
      let frames = try #require(whole.active).frames
      for frame in [frames[1], frames[3]] { image.flip(segment, at: frame.end - 8, mask: 1) }
    }
    let frames = try #require(layout?.active).frames
    let verify = try folder.varve("verify", folder.store)
    #expect(verify.ending == .exit(1) && verify.errorOutput == "")
    let lines = verify.output.split(separator: "\n")
    #expect(lines.count == 3)
    for (line, number) in zip(lines, [1, 3]) {
      let place = "corrupt  \(segment)  offset \(frames[number].offset)  sequence \(frames[number].header.sequence)  "
      #expect(line.hasPrefix(place))
      #expect(line.dropFirst(place.count).wholeMatch(of: /payload checksum 0x[0-9a-f]+ expected 0x[0-9a-f]+/) != nil)
    }
    #expect(lines.last == "2 findings")
  }

  @Test func `a store that does not open is refused by the others, which point to verify and change nothing`() throws {
    let folder = try ToolFolder()
    try folder.fill()
    try folder.damage { image in image.flip(segment, at: 140) }
    let before = try folder.contents()
    for command in [["info"], ["info", "--json"], ["dump"], ["dump", "--schema"], ["compact"]] {
      let result = try folder.varve(command + [folder.store])
      #expect(result.ending == .exit(2) && result.output == "")
      #expect(result.errorOutput.contains("Run `varve verify` on the store."), "\(result.errorOutput)")
      #expect(
        result.errorOutput.wholeMatch(
          of: /varve [a-z]+: The log breaks off: .+ so this is damage .+ \[segments\/.+ offset 128, .+\]\n/) != nil,
        "\(result.errorOutput)")
    }
    let after = try folder.contents()
    let transient = ["lock", "live"]
    #expect(after.filter { !transient.contains($0.key) } == before.filter { !transient.contains($0.key) })
  }

  @Test func `verify finds what contradicts itself, and counts one finding as one`() throws {
    let folder = try ToolFolder()
    try folder.fill(foods: 1)
    try folder.commit(to: folder.store) { try $0.delete(RecordID(entity: 2, serial: 1)) }
    let verify = try folder.varve("verify", folder.store)
    let place = try #require(verify.output.firstMatch(of: /offset (\d+)/))
    #expect(
      verify.all == [
        "exit(1)",
        """
        inconsistent  \(segment)  offset \(place.1)  sequence 4  Food/1: shelf leads to Shelf/1, which does not exist
        1 finding

        """, "",
      ])
  }

  @Test func `notes are printed and count as nothing`() throws {
    let folder = try ToolFolder()
    try folder.fill()
    try Data("x".utf8).write(to: URL(filePath: folder.store + "/notes\n.txt"))
    #expect(
      try folder.varve("verify", folder.store).all == [
        "exit(0)", "note  notes\\u{a}.txt  not a file of the store\nOK\n", "",
      ])
    #expect(try folder.varve("info", folder.store).output.hasSuffix("not its own  notes\\u{a}.txt\n"))
  }

  @Test func `dump prints all that is whole, and reports the rest beside it`() throws {
    let folder = try ToolFolder()
    try folder.fill()
    let lines = try folder.varve("dump", folder.store).output.split(separator: "\n")
    try folder.commit(to: folder.store) { try $0.put(RecordID(entity: 1, serial: 1), [1]) }
    let dump = try folder.varve("dump", folder.store)
    #expect(dump.ending == .exit(1))
    #expect(dump.output == lines.dropFirst().joined(separator: "\n") + "\n")
    #expect(
      dump.errorOutput.wholeMatch(
        of: /corrupt  segments\/.+\.log  offset \d+  sequence 6  Food\/1: a row of Food cannot be right: .+\n/) != nil,
      "\(dump.errorOutput)")
    #expect(try folder.varve("verify", folder.store).ending == .exit(1))
  }

  @Test func `compact says which record is in its way`() throws {
    let folder = try ToolFolder()
    try folder.fill()
    try folder.commit(to: folder.store) { try $0.put(RecordID(entity: 1, serial: 1), [1]) }
    let compact = try folder.varve("compact", folder.store)
    #expect(compact.ending == .exit(2) && compact.output == "")
    #expect(compact.errorOutput.hasPrefix("varve compact: A row of Food cannot be right: "))
    #expect(compact.errorOutput.hasSuffix(" [Food, 1/1]\n"), "\(compact.errorOutput)")
  }
}
