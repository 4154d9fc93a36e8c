import CommandLineSupport
import VarveMaintenance

extension VarveTool {
  private static let schema = Flag("schema", "the schema as one JSON object, instead of the objects")

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
      """, [store, schema]
  ) { arguments, console in
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
    try opened.dump { finding in
      bar?.finish()
      console.note(finding.line)
      code = .finding
    } take: { line in
      console.print(line)
      printed += 1
      if printed % 1024 == 0 { bar?.update(printed, of: total, "dumping") }
      return !console.output.hasFailed
    }
    bar?.finish()
    return code
  }
}
