import CommandLineSupport
import VarveMaintenance

extension VarveTool {
  /// `varve verify`.
  static let verify = Command(
    "verify", "Check every byte of a store, and what the bytes mean.",
    discussion: """
      One finding a line, in fields that are separated by two spaces: how bad it is, then file, offset, sequence of the
      commit and record as far as they are known, then what it is. "corrupt" are bytes that are not what was written,
      "inconsistent" is what contradicts itself, "note" is worth knowing and no finding. The last line is OK, or the
      number of findings.

      Checked are the checksums of all files; that every row fits the schema; that references lead to objects of the
      right entity, unique values are unique, and no serial number can be given twice.

      Exit code 0 when the store is fine, 1 when something was found.
      """, [store]
  ) { arguments, console in
    var count = 0
    let bar = ProgressBar(on: console.errorOutput)
    bar.update(0, of: nil, "reading the log")
    let verification = StoreVerification(at: arguments[store]) { done, total in
      bar.update(done, of: total, "objects")
    } report: { finding in
      bar.finish()
      console.print(finding.line)
      if finding.isDefect { count += 1 }
    }
    defer { bar.finish() }
    try verification.run()
    bar.finish()
    console.print(count == 0 ? "OK" : "\(count) finding\(count == 1 ? "" : "s")")
    return count == 0 ? .success : .finding
  }
}
