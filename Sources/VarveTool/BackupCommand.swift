import CommandLineSupport
import VarveMaintenance

extension VarveTool {
  private static let target = Operand("BACKUP", "where the backup is to be: nothing may be there yet")

  /// `varve backup`.
  static let backup = Command(
    "backup", "Copy a store as it is after one commit.",
    discussion: """
      A program may have the store open, and goes on meanwhile. The backup is a store that was closed: open it, or copy
      it to where it is needed. Files that never change again are given a second name and take no room of their own, if
      BACKUP is on the same file system. At the end the whole backup is verified.
      """, [store, target]
  ) { arguments, console in
    let bar = ProgressBar(on: console.errorOutput)
    bar.update(0, of: nil, "copying")
    defer { bar.finish() }
    let made = try StoreBackup.make(of: arguments[store], at: arguments[target])
    bar.finish()
    console.print("last commit  \(made.lastCommit)")
    console.print("shared       \(size(made.sharedByteCount))")
    console.print("copied       \(size(made.copiedByteCount))")
    return .success
  }
}
