extension Directory {
  /// The path of what has the name `name` in the folder: for messages only.
  package func path(of name: String) -> String {
    path.isEmpty || path.hasSuffix("/") ? path + name : "\(path)/\(name)"
  }
}
