import CommandLineSupport
import VarveMaintenance

extension VarveTool {
  private static let schema = Flag("schema", "the schema as one JSON object, instead of the objects")

  private static let since = Option(
    "since", value: "SEQUENCE", "only what changed after that commit, and what was deleted")

  /// `varve dump`.
  static let dump = Command(
    "dump", "Print every object as a line of JSON, or the schema.",
    discussion: """
      A line: {"id":"Food/17","entity":"Food","version":42,"values":{"name":"Milk","shelf":{"$ref":"Shelf/3"}}}, where
      version is the commit that wrote the object. With the schema at hand every value can be read back exactly: whole
      numbers may have 64 bits, decimal numbers are texts, bytes are {"$data":"base64"}, dates are texts with as many
      digits of the second as they need, or {"$date":seconds since 2001-01-01T00:00:00Z} outside of the years 0 to 9999,
      and the floating-point numbers that JSON lacks are "nan", "inf" and "-inf".

      Exit code 1 when damage is met while objects are read: it is reported on standard error, as by verify, and
      everything else is printed. Exit code 2 when the store does not open, such as for damage in its log: then nothing
      is printed but the reason, and verify finds all that is wrong. Records of a store without a schema are printed by
      their IDs, with their bytes.

      With --since only objects that were made or changed after that commit are printed, in no particular order, then a
      line for each that was deleted, {"id":"Food/17","deleted":true,"version":43}, and last {"sequence":4711}: the commit
      to name the next time. Since 0 it is everything. When a compaction forgot deletes behind that commit, nothing is
      printed but the reason, and the exit code is 2: take everything.
      """, [store, schema, since]
  ) { arguments, console in
    let first = try arguments.integer(since, in: 0...Int.max)
    if first != nil, arguments[schema] { throw UsageError("--schema and --since cannot be given together") }
    let opened = try InspectedStore(at: arguments[store])
    if arguments[schema] {
      guard let schema = try opened.schemaDump() else {
        console.note("varve dump: the store \(opened.path.printable) has no schema")
        return .finding
      }
      console.print(schema)
      return .success
    }
    if opened.schema == nil {
      console.note("varve dump: the store has no schema; its records follow by their IDs, with their bytes")
    }
    let bar = console.output.isTerminal ? nil : ProgressBar(on: console.errorOutput)
    let total = opened.objectCount
    var printed = 0
    var code = ExitCode.success
    let report: (Finding) -> Void = { finding in
      bar?.finish()
      console.note(finding.line)
      code = .finding
    }
    let take: (String) -> Bool = { line in
      console.print(line)
      printed += 1
      if printed % 1024 == 0 { bar?.update(printed, of: first == nil ? total : nil, "dumping") }
      return !console.output.hasFailed
    }
    if let first {
      try opened.dumpChanges(since: UInt64(first), report: report, take: take)
    } else {
      try opened.dump(report: report, take: take)
    }
    bar?.finish()
    return code
  }
}
