/// The bars of each line of the tables, as SVG.
struct ComparisonPlot {
  private let measurements: Measurements

  init(_ measurements: Measurements) { self.measurements = measurements }

  /// File names and their contents: a drawing for each table.
  var drawings: [(name: String, drawing: String)] {
    ComparisonRow.groups.enumerated().compactMap { index, group in
      draw(group.title, group.rows).map { ("\(["rates", "processor", "times", "sizes"][index]).svg", $0) }
    }
  }

  private static let barHeight = 13.0
  private static let labelWidth = 78.0
  private static let barWidth = 250.0
  private static let panelWidth = 410.0
  private static let columnCount = 3

  /// A panel a row, three panels side by side. Each has its own scale, from zero.
  private func draw(_ title: String, _ rows: [ComparisonRow]) -> String? {
    let rows = rows.filter { row in engines.contains { value(row, $0) != nil } }
    guard !rows.isEmpty else { return nil }
    let panelHeight = Double(engines.count) * ComparisonPlot.barHeight + 34
    let lineCount = (rows.count + ComparisonPlot.columnCount - 1) / ComparisonPlot.columnCount
    var picture = SVG(
      width: Double(ComparisonPlot.columnCount) * ComparisonPlot.panelWidth + 20,
      height: Double(lineCount) * panelHeight + 44)
    picture.text(title, x: 12, y: 24, size: 16, isBold: true)
    for (index, row) in rows.enumerated() {
      draw(
        row, x: 12 + Double(index % ComparisonPlot.columnCount) * ComparisonPlot.panelWidth,
        y: 40 + Double(index / ComparisonPlot.columnCount) * panelHeight, in: &picture)
    }
    return picture.document
  }

  private func draw(_ row: ComparisonRow, x: Double, y: Double, in picture: inout SVG) {
    picture.text(row.title, x: x, y: y + 12, size: 12, isBold: true)
    let largest = engines.compactMap { value(row, $0) }.max() ?? 0
    var top = y + 18
    for engine in engines {
      defer { top += ComparisonPlot.barHeight }
      picture.text(
        engine.rawValue, x: x + ComparisonPlot.labelWidth - 6, y: top + 10, size: 10, anchor: "end",
        isBold: engine == .varve)
      guard let value = value(row, engine) else { continue }
      let width = largest > 0 ? value / largest * ComparisonPlot.barWidth : 0
      picture.bar(
        x: x + ComparisonPlot.labelWidth, y: top, width: max(width, 1), height: ComparisonPlot.barHeight - 2,
        color: color(engine))
      picture.text(row.text(value), x: x + ComparisonPlot.labelWidth + width + 4, y: top + 10, size: 10)
    }
  }

  private var engines: [EngineName] { measurements.engines }

  private func value(_ row: ComparisonRow, _ engine: EngineName) -> Double? {
    measurements.median(row.figure, of: row.workload(of: engine), engine)
  }

  private func color(_ engine: EngineName) -> String {
    switch engine {
    case .varve: "#c2410c"
    case .limit: "#d6d3d1"
    default: "#64748b"
    }
  }
}

/// A drawing of bars and words.
struct SVG {
  private let width: Double
  private let height: Double
  private var elements: [String] = []

  init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }

  /// Draws a word.
  mutating func text(
    _ words: String, x: Double, y: Double, size: Double, anchor: String = "start", isBold: Bool = false
  ) {
    let escaped = words.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    elements.append(
      "<text x=\"\(number(x))\" y=\"\(number(y))\" font-size=\"\(number(size))\" text-anchor=\"\(anchor)\""
        + "\(isBold ? " font-weight=\"bold\"" : "")>\(escaped)</text>")
  }

  /// Draws a bar.
  mutating func bar(x: Double, y: Double, width: Double, height: Double, color: String) {
    elements.append(
      "<rect x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\" height=\"\(number(height))\" "
        + "fill=\"\(color)\"/>")
  }

  /// The file.
  var document: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" width="\(number(width))" height="\(number(height))" \
    font-family="sans-serif">
    <rect width="100%" height="100%" fill="white"/>
    \(elements.joined(separator: "\n"))
    </svg>

    """
  }

  /// A coordinate.
  private func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
