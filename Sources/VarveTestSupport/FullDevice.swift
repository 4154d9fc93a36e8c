import Glibc

/// The device that is always full, for tests of what happens when nothing can be written.
public enum FullDevice {
  /// Where it is.
  public static let path = "/dev/full"

  /// What stands there if it is not the device, or `nil` if it is. A program that replaces files by name may have put a
  /// file there, and writing to that succeeds.
  public static var reasonAgainstUse: String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return "there is no \(path)" }
    guard status.st_mode & S_IFMT == S_IFCHR else { return "\(path) is no character device" }
    // The numbers of the device, as `mem(4)` has them: 1 and 7.
    let number = UInt64(status.st_rdev)
    let (major, minor) = (number >> 8 & 0xFFF, number & 0xFF)
    return (major, minor) == (1, 7) ? nil : "\(path) is the device \(major), \(minor) and not 1, 7"
  }
}
