import CommandLineSupport
import VarveLog
import VarveTestSupport

extension VarveSoak {
  private static let seconds = Option("seconds", value: "N", "for how long, by default 60")
  private static let idCount = Option("records", value: "N", "how many records there are, by default 100000")
  private static let durability = Option("durability", value: "WORD", "disk or system, by default disk")

  /// What can be promised of each commit.
  private enum Promise: String, CaseIterable {
    case disk, system
  }

  /// Overwrites few records often and many seldom, and looks whether the store stays small and commits stay quick.
  static let hotKeys = Command(
    "hot-keys", "Overwrite hot records from eight threads, and look whether the store stays within its bound.",
    discussion: """
      Eight writers overwrite records of 1 KiB, one a commit, chosen by a Zipf distribution. The room that the segments
      take is looked at twenty times a second: it must stay within twice what is live, two segments, and half a
      checkpoint. The slowest hundredth of the commits of each second may take three times as long as in the first five.
      """,
    [seconds, idCount, durability, seedOption]
  ) { arguments, console in
    let seconds = try arguments.integer(seconds, in: 6...86_400) ?? 60
    let idCount = try arguments.integer(idCount, in: 1...10_000_000) ?? 100_000
    let promise = try arguments.choice(durability, as: Promise.self) ?? .disk
    let seed = UInt64(try arguments.integer(seedOption, in: 0...Int.max) ?? 1)
    let folder = try TemporaryFolder("varve-soak-hot-keys")
    console.print("hot keys: \(seconds) s, \(idCount) records, \(promise.rawValue), seed \(seed)")
    let soak = HotKeySoak(
      path: folder.path + "/store", idCount: idCount, durability: promise == .disk ? .disk : .system, seed: seed)
    let result = try await soak.run(seconds: seconds)
    for line in result.lines { console.print(line) }
    return result.isKept ? .success : .finding
  }
}
