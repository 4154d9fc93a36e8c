import CVarve

/// CRC-32C (Castagnoli), the checksum of everything on disk. By instruction where the processor has one.
///
/// It finds damage; it is no protection against someone who changes bytes on purpose.
public enum CRC32C {
  /// The checksum of `bytes`. Give the result for the bytes before them as `seed` to go on with it, or any salt.
  ///
  /// - Complexity: O(*n*), three streams side by side for long input.
  public static func checksum(seed: UInt32 = 0, of bytes: UnsafeRawBufferPointer) -> UInt32 {
    unsafe varve_crc32c(seed, bytes.baseAddress, bytes.count)
  }

  /// The checksum of `bytes`. Give the result for the bytes before them as `seed` to go on with it, or any salt.
  ///
  /// - Complexity: O(*n*), three streams side by side for long input.
  public static func checksum(seed: UInt32 = 0, of bytes: RawSpan) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe varve_crc32c(seed, $0.baseAddress, $0.count) }
  }

  /// The same by tables alone, for comparison.
  package static func portableChecksum(seed: UInt32 = 0, of bytes: RawSpan) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe varve_crc32c_portable(seed, $0.baseAddress, $0.count) }
  }

  /// Whether the processor's instruction is used.
  package static var usesHardware: Bool { varve_crc32c_uses_hardware() }
}
