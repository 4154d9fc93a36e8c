import Foundation
import Testing

@testable import CommandLineSupport

/// A folder of files of every kind, which goes with the test.
private final class Folder {
  let url = FileManager.default.temporaryDirectory.appending(path: "files-test-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }
  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.path + "/" + name }

  func make(_ name: String, _ text: String, mode: mode_t = 0o644) throws {
    try Data(text.utf8).write(to: URL(filePath: path(name)))
    try #require(unsafe chmod(path(name), mode) == 0)
  }

  func link(_ name: String, to target: String) throws { try #require(unsafe symlink(target, path(name)) == 0) }

  func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

  var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() } }

  /// Type, mode and number of what stands there, links not followed.
  func status(_ name: String) throws -> stat {
    var status = stat()
    try #require(unsafe lstat(path(name), &status) == 0)
    return status
  }
}

@Suite struct `An output file` {
  private static let bytes = Array("new\n".utf8)

  fileprivate func failure(_ path: String) -> String? {
    do throws(FileFailure) {
      try OutputFile.write(Self.bytes, to: path)
      return nil
    } catch { return error.description }
  }

  @Test func `is made with the mode that the mask of the process leaves`() throws {
    let folder = try Folder()
    try OutputFile.write(Self.bytes, to: folder.path("list"))
    let line = try #require(
      try String(contentsOfFile: "/proc/self/status", encoding: .utf8).firstMatch(of: /Umask:\s*([0-7]+)/)?.1)
    let mask = try #require(mode_t(line, radix: 8))
    #expect(try folder.status("list").st_mode == S_IFREG | (0o666 & ~mask))
    #expect(try folder.text("list") == "new\n" && folder.names == ["list"])
  }

  @Test(arguments: [0o600, 0o644, 0o755, 0o666] as [mode_t])
  func `keeps the mode of the one that it replaces in one step`(mode: mode_t) throws {
    let folder = try Folder()
    try folder.make("list", "old and longer", mode: mode)
    let old = try folder.status("list")
    let reader = try FileHandle(forReadingFrom: URL(filePath: folder.path("list")))
    try OutputFile.write(Self.bytes, to: folder.path("list"))
    let new = try folder.status("list")
    #expect(new.st_mode == S_IFREG | mode && new.st_ino != old.st_ino && new.st_uid == old.st_uid)
    // Who has the old one open reads it to its end.
    #expect(try reader.readToEnd() == Data("old and longer".utf8))
    #expect(try folder.text("list") == "new\n" && folder.names == ["list"])
  }

  @Test func `is what a link leads to, over several, from its own folder, and also where nothing is yet`() throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(atPath: folder.path("there"), withIntermediateDirectories: false)
    try folder.make("there/list", "old", mode: 0o600)
    try folder.link("there/second", to: "list")
    try folder.link("first", to: "there/second")
    try folder.link("ahead", to: folder.path("there/more"))
    for name in ["first", "ahead"] { try OutputFile.write(Self.bytes, to: folder.path(name)) }
    for name in ["first", "there/second", "ahead"] { #expect(try folder.status(name).st_mode & S_IFMT == S_IFLNK) }
    #expect(try folder.text("there/list") == "new\n" && folder.text("there/more") == "new\n")
    #expect(try folder.status("there/list").st_mode == S_IFREG | 0o600)
    #expect(try folder.names == ["ahead", "first", "there"])

    try folder.link("circle", to: "circle")
    let circle = folder.path("circle")
    #expect(failure(circle) == "\(circle) cannot be written: Too many levels of symbolic links")
  }

  @Test func `is written into when it is a pipe, which stays`() throws {
    let folder = try Folder()
    try #require(unsafe mkfifo(folder.path("pipe"), 0o600) == 0)
    // Open in both directions, so that nobody waits for the other side.
    let reader = unsafe open(folder.path("pipe"), O_RDWR)
    defer { close(reader) }
    let before = try folder.status("pipe")
    try OutputFile.write(Self.bytes, to: folder.path("pipe"))
    let after = try folder.status("pipe")
    #expect(after.st_ino == before.st_ino && after.st_mode == before.st_mode)
    #expect(try FileHandle(fileDescriptor: reader).read(upToCount: 4) == Data("new\n".utf8))
    #expect(try folder.names == ["pipe"])
  }

  @Test(arguments: ["/dev/null", "/dev/full"]) func `is written into when it is a device, which stays`(
    device: String
  ) throws {
    let folder = try Folder()
    try folder.link("device", to: device)
    func status() throws -> stat {
      var status = stat()
      try #require(unsafe stat(device, &status) == 0)
      return status
    }
    let before = try status()
    guard before.st_mode & S_IFMT == S_IFCHR else {
      try Test.cancel("\(device) is no device on this machine")
    }
    for path in [device, folder.path("device")] {
      let expected = device == "/dev/full" ? "\(path) cannot be written: No space left on device" : nil
      #expect(failure(path) == expected)
    }
    let after = try status()
    #expect(after.st_ino == before.st_ino && after.st_mode == before.st_mode && after.st_rdev == before.st_rdev)
  }

  /// What an open file says of itself is no path when it was removed, and one that must not be replaced otherwise.
  @Test(arguments: [false, true]) func `is the open file that a link in /proc stands for`(isRemoved: Bool) throws {
    let folder = try Folder()
    let descriptor = unsafe open(folder.path("open"), O_RDWR | O_CREAT | O_APPEND, 0o600)
    defer { close(descriptor) }
    let handle = FileHandle(fileDescriptor: descriptor)
    try handle.write(contentsOf: Data("before\n".utf8))
    if isRemoved { try FileManager.default.removeItem(atPath: folder.path("open")) }
    try folder.link("link", to: "/dev/fd/\(descriptor)")
    for path in ["/proc/self/fd/\(descriptor)", "/dev/fd/\(descriptor)", folder.path("link")] {
      try OutputFile.write(Self.bytes, to: path)
    }
    try handle.seek(toOffset: 0)
    #expect(try handle.readToEnd() == Data("before\nnew\nnew\nnew\n".utf8))
    #expect(try folder.names == (isRemoved ? ["link"] : ["link", "open"]))
  }

  /// The superuser may write everywhere, so the process becomes somebody else first.
  @Test func `is refused where it may not be written, and the old one stays whole`() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      try folder.make("list", "old", mode: 0o444)
      if getuid() == 0 {
        for path in [folder.url.path, folder.path("list")] { try #require(unsafe chown(path, 65534, 65534) == 0) }
        try #require(setgid(65534) == 0 && setuid(65534) == 0)
      }
      let test = `An output file`()
      let list = folder.path("list")
      #expect(test.failure(list) == "\(list) cannot be written: Permission denied")
      // A file that may be written, in a folder where none can be made beside it.
      try #require(unsafe chmod(list, 0o644) == 0)
      try #require(unsafe chmod(folder.url.path, 0o555) == 0)
      for path in [list, folder.path("other")] {
        #expect(test.failure(path) == "\(path) cannot be written: Permission denied")
      }
      try #require(unsafe chmod(folder.url.path, 0o755) == 0)
      #expect(try folder.names == ["list"] && folder.text("list") == "old")
    }
  }

  @Test func `is refused where none can be, with the reason`() throws {
    let folder = try Folder()
    func expect(_ path: String, _ reason: String) { #expect(failure(path) == "\(path) cannot be written: \(reason)") }
    expect("", "the name is empty")
    expect(folder.url.path, "Is a directory")
    expect(folder.path("missing/list"), "the folder \(folder.path("missing")) does not exist")
    expect(folder.path("list/"), "there is no such file")
    try folder.make("file", "old")
    expect(folder.path("file/list"), "Not a directory")
    let long = folder.path(String(repeating: "x", count: 300))
    expect(long, "File name too long")
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // The name of a socket has room for a hundred letters, from the folder that the process is in.
    let name = "/tmp/files-\(UUID().uuidString.prefix(8)).socket"
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name.utf8) }
    let bound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0)
    defer { unsafe unlink(name) }
    expect(name, "No such device or address")
    #expect(try folder.names == ["file"] && folder.text("file") == "old")
    #expect(FileManager.default.fileExists(atPath: name))
  }
}

@Suite struct `An input file` {
  @Test func `gives all bytes of a file, with its size, and of a pipe, without`() throws {
    let folder = try Folder()
    let text = String(repeating: "text ", count: 30_000)
    try folder.make("file", text)
    let file = try InputFile(at: folder.path("file"))
    #expect(file.size == text.utf8.count)
    #expect(try file.read(upTo: 4) == Array("text".utf8))
    #expect(try file.readToEnd() == Array(text.utf8.dropFirst(4)) && file.read(upTo: 4) == [])
    try #require(unsafe mkfifo(folder.path("pipe"), 0o600) == 0)
    let writer = FileHandle(fileDescriptor: unsafe open(folder.path("pipe"), O_RDWR), closeOnDealloc: true)
    try writer.write(contentsOf: Data("few".utf8))
    let pipe = try InputFile(at: folder.path("pipe"))
    try writer.close()
    #expect(try pipe.size == nil && pipe.readToEnd() == Array("few".utf8))
  }

  @Test func `is refused when there is none, with the reason`() throws {
    let folder = try Folder()
    func expect(_ path: String, _ reason: String) {
      let error = #expect(throws: FileFailure.self) { _ = try InputFile(at: path) }
      #expect(error?.description == "\(path) cannot be read: \(reason)")
    }
    expect("", "the name is empty")
    expect(folder.path("no.json"), "there is no such file")
    expect(folder.path("nodir/no.json"), "the folder \(folder.path("nodir")) does not exist")
    expect(folder.url.path, "Is a directory")
  }
}
