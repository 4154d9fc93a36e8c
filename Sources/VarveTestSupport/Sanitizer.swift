import Glibc

/// The sanitizer that the running program was built with. Tests that cannot run under one say so with a reason:
///
/// ```swift
/// @Test(.enabled(if: Sanitizer.current == nil, "the address space cannot be limited under a sanitizer"))
/// ```
public enum Sanitizer: String, Sendable {
  /// The address sanitizer, with its leak checker.
  case address
  /// The thread sanitizer.
  case thread

  /// Found by the functions of its run-time library.
  public static let current: Sanitizer? =
    isLinked("__asan_init") ? .address : isLinked("__tsan_init") ? .thread : nil

  private static func isLinked(_ name: String) -> Bool { unsafe dlsym(nil, name) != nil }
}
