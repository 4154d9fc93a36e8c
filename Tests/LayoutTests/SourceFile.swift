import Foundation
import SwiftParser
import SwiftSyntax

/// A Swift file with its syntax tree. Rules see nothing else, so a test can hand them a file that does not exist.
struct SourceFile: Sendable {
  /// The path relative to the repository.
  let path: String
  let text: String
  let tree: SourceFileSyntax
  private let converter: SourceLocationConverter

  init(path: String, text: String) {
    self.path = path
    self.text = text
    tree = Parser.parse(source: text)
    converter = SourceLocationConverter(fileName: path, tree: tree)
  }

  /// The number of lines, the last one counted whether or not a line feed ends it.
  var lineCount: Int { LineCount.of(text) }

  /// The target whose folder holds the file: `VarveLog` for `Sources/VarveLog/Log/Frame.swift`.
  var target: String? {
    let parts = path.split(separator: "/")
    guard parts.count > 2, parts[0] == "Sources" || parts[0] == "Tests" else { return nil }
    return String(parts[1])
  }

  /// The folder within the target: `Log` for `Sources/VarveLog/Log/Frame.swift`, nothing for a file beside it.
  var folder: String? {
    let parts = path.split(separator: "/")
    return parts.count > 3 ? String(parts[2]) : nil
  }

  var isTest: Bool { path.hasPrefix("Tests/") }

  /// Whether a failure here would be a failing test that nobody can repeat, if it drew its randomness from nowhere.
  var isTestCode: Bool { isTest || path.hasPrefix("Sources/VarveTestSupport/") }

  func line(of position: AbsolutePosition) -> Int { converter.location(for: position).line }

  /// The line of the node's first token.
  func line(of node: some SyntaxProtocol) -> Int { line(of: node.positionAfterSkippingLeadingTrivia) }

  /// A violation at the line of a node.
  func violation(at node: some SyntaxProtocol, _ message: String) -> Violation {
    Violation(path: path, line: line(of: node), message: message)
  }
}

/// A place where a rule is broken, printed as compilers do.
struct Violation: Hashable, Sendable, CustomStringConvertible {
  var path: String
  var line = 1
  var message: String

  var description: String { "\(path):\(line): \(message)" }
}

enum LineCount {
  static func of(_ text: String) -> Int {
    text.isEmpty ? 0 : text.utf8.lazy.filter { $0 == UInt8(ascii: "\n") }.count + (text.hasSuffix("\n") ? 0 : 1)
  }
}

/// The files of the repository that the tests were built from.
struct Repository: Sendable {
  static let current = Repository(
    root: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent())

  let root: URL
  /// The manifest and every Swift file under Sources, Tests and the client package of `.ci`.
  let swiftFiles: [SourceFile]
  /// C files and headers, and their text.
  let otherFiles: [(path: String, text: String)]

  init(root: URL) {
    self.root = root
    var swiftFiles = [SourceFile(path: "Package.swift", text: Repository.text(of: "Package.swift", under: root))]
    var otherFiles: [(path: String, text: String)] = []
    for folder in ["Sources", "Tests", ".ci/client"] {
      let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)?.compactMap {
        $0 as? String
      }
      for path in (names ?? []).sorted().map({ "\(folder)/\($0)" }) {
        if path.hasSuffix(".swift") {
          swiftFiles.append(SourceFile(path: path, text: Repository.text(of: path, under: root)))
        } else if path.hasSuffix(".c") || path.hasSuffix(".h") {
          otherFiles.append((path, Repository.text(of: path, under: root)))
        }
      }
    }
    self.swiftFiles = swiftFiles
    self.otherFiles = otherFiles
  }

  var manifest: Manifest { Manifest(swiftFiles[0]) }

  /// The text of a file that must exist.
  func text(of path: String) -> String { Repository.text(of: path, under: root) }

  private static func text(of path: String, under root: URL) -> String {
    guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else {
      fatalError("\(path) cannot be read under \(root.path)")
    }
    return text
  }
}
