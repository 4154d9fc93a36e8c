package import VarveLog

extension File {
  /// Everything in the file.
  package func contents() throws -> [UInt8] { try bytes(at: 0, count: Int(size())) }
}

extension Directory {
  /// Everything in the file `name`.
  package func contents(of name: String) throws -> [UInt8] {
    let file = try openFile(name, for: .reading)
    defer { file.close() }
    return try file.contents()
  }

  /// Makes the file `name` with `bytes` in it, or gives it these instead of what it has.
  package func put(_ bytes: [UInt8], in name: String) throws {
    let file = try list().contains(name) ? openFile(name, for: .writing) : createFile(name)
    defer { file.close() }
    // In this order: to cut a file to nothing and write it anew makes some file systems wait for the device.
    try file.write(bytes, at: 0)
    try file.setSize(UInt64(bytes.count))
  }
}

extension FileMapping {
  /// A copy of the bytes in `range`.
  package func bytes(in range: Range<Int>) -> [UInt8] {
    precondition(range.lowerBound >= 0 && range.upperBound <= length, "a range to be copied must lie in the mapping")
    return unsafe Array(UnsafeRawBufferPointer(start: baseAddress + range.lowerBound, count: range.count))
  }

  /// Stores `bytes` at `offset`.
  package func store(_ bytes: [UInt8], at offset: Int) {
    unsafe bytes.span.bytes.withUnsafeBytes { buffer in unsafe store(buffer, at: offset) }
  }
}
