import Testing
import VarveLog
import VarveTestSupport

@Suite("An error of the system")
struct SystemErrorTests {
  @Test(
    "has the code that fits it, and what to do about it",
    arguments: [
      (.noEntry, .notFound, "Check the path"), (.exists, .alreadyExists, "another name"),
      (.accessDenied, .permissionDenied, "owner and mode"), (.notPermitted, .permissionDenied, "owner and mode"),
      (.readOnlyFileSystem, .permissionDenied, "mounted"), (.noSpace, .diskFull, "Free some room"),
      (.quotaExceeded, .diskFull, "Free some room"), (.inputOutput, .ioFailure, "system's log"),
      (.tooManyOpenFiles, .ioFailure, "limit of open files"),
      (.tooManyOpenFilesInSystem, .ioFailure, "limit of open files"), (.notOpen, .ioFailure, "system's log"),
      (.fileTooLarge, .ioFailure, "system's log"), (SystemError(9_999), .ioFailure, "system's log"),
    ] as [(SystemError, StoreError.Code, String)])
  func codes(error: SystemError, code: StoreError.Code, remedy: String) {
    let told = StoreError(error, cannot: "read", "a/b")
    #expect(told.code == code)
    #expect(told.message.contains(remedy))
    #expect(told.systemErrorNumber == error.number)
    #expect(told.location.file == "a/b")
    #expect(!told.isCorruption)
  }

  @Test func `is told with what was tried, on which file, the system's words and its number`() {
    #expect(
      StoreError(.noEntry, cannot: "open the file", "store/manifest").description == """
        notFound: Cannot open the file store/manifest: No such file or directory (errno 2). Check the path and \
        whether something removed it. [store/manifest]
        """)
  }
}
