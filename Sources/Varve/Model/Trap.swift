/// Ends the program because of a mistake in it, with a sentence that says which.
///
/// For whatever a user of the package can do wrong and no error can be thrown for. Not `preconditionFailure`: in a
/// release build that ends the program without a word. The tests of the layout see to it.
///
/// - Parameters:
///   - message: What was done to what, and what to do instead.
///   - file: Where the check stands.
///   - line: Where the check stands.
@usableFromInline func trap(
  _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
  fatalError(message(), file: file, line: line)
}
