import Foundation
import Testing
import VarveTestSupport

@testable import Debgraph

/// The reader against an independent count: awk, which takes the text apart in another way.
@Suite struct `The counts of a real archive` {
  /// Prints `kind terms groups` for each dependency field, and `Package n n`: bars and commas after unfolding.
  private static let counter = """
    function flush(   n, groups, i, bars) {
      if (field != "" && value ~ /[^ \\t]/) {
        n = split(value, groups, ",")
        for (i = 1; i <= n; i++) if (groups[i] ~ /[^ \\t]/) {
          group_count[field]++
          bars = gsub(/\\|/, "|", groups[i])
          term_count[field] += bars + 1
        }
      }
      field = ""
    }
    /^[^ \\t]/ { flush(); field = $0; sub(/:.*/, "", field); value = $0; sub(/^[^:]*:/, "", value); next }
    /^[ \\t]/ { value = value " " $0; next }
    { flush() }
    END { flush(); for (name in term_count) print name, term_count[name], group_count[name] }
    """

  private func compare(_ text: Data) throws {
    let counted = try ChildProcess.run("/usr/bin/awk", [Self.counter], input: text)
    try #require(counted.ending == .exit(0), "\(counted.errorOutput)")
    var expected: [String: [Int]] = [:]
    for line in counted.output.split(separator: "\n") {
      let words = line.split(separator: " ")
      expected[String(words[0])] = words[1...].compactMap { Int($0) }
    }

    var reader = StanzaReader(fields: ArchivedPackage.fieldNames)
    var found: [String: [Int]] = [:]
    func count(_ stanza: Stanza) throws {
      let package = try ArchivedPackage(stanza)
      found["Package", default: [0, 0]][0] += 1
      for dependency in package.dependencies {
        found[dependency.kind.fieldName, default: [0, 0]][0] += 1
        if dependency.term.alternative == 0 { found[dependency.kind.fieldName, default: [0, 0]][1] += 1 }
      }
    }
    for start in stride(from: 0, to: text.count, by: 4093) {
      for stanza in try reader.read(text[start..<min(start + 4093, text.count)]) { try count(stanza) }
    }
    if let last = try reader.finish() { try count(last) }

    #expect(found["Package"]?[0] == expected["Package"]?[0])
    #expect(found["Package"]?[0] ?? 0 > 0)
    for kind in DependencyKind.allCases {
      #expect(found[kind.fieldName] == expected[kind.fieldName], "\(kind.fieldName)")
    }
  }

  @Test func `agree with awk on the excerpt among the fixtures`() throws {
    let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fixtures")
    try compare(try Data(contentsOf: fixtures.appending(path: "archive.txt")))
  }

  private static let archive = (try? ChildProcess.run("/usr/bin/apt-cache", ["dumpavail"]))?.output ?? ""

  @Test(.enabled(if: !archive.isEmpty, "apt-cache dumpavail prints nothing here; apt-get update fills it"))
  func `agree with awk on the archive that this machine knows`() throws {
    // Ten megabytes, up to a paragraph's end: all of it takes minutes under a sanitizer.
    let bytes = Data(Self.archive.utf8.prefix(10_000_000))
    let end = bytes.range(of: Data("\n\n".utf8), options: .backwards)?.upperBound ?? bytes.endIndex
    try compare(bytes[..<end])
  }
}
