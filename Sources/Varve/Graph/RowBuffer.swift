import VarveLog

/// The bytes of a row that are kept after its record is gone. Belongs to one object.
@safe final class RowBuffer {
  private let bytes: UnsafeMutableRawBufferPointer

  /// Copies the bytes.
  init(copying source: UnsafeRawBufferPointer) {
    unsafe bytes = .allocate(byteCount: max(source.count, 1), alignment: 8)
    unsafe bytes.copyMemory(from: source)
    count = source.count
  }

  deinit { unsafe bytes.deallocate() }

  /// How many bytes there are.
  let count: Int

  /// The first byte; valid as long as the buffer lives.
  var start: UnsafeRawPointer {
    // A buffer is never made without bytes, so it has a base.
    unsafe UnsafeRawPointer(bytes.baseAddress.unsafelyUnwrapped)
  }
}
