/// Some of the records that a compaction will copy, drawn while its inputs are read: each is as likely to be among them
/// as each other, however many there are.
struct CompactionSample {
  /// The records, in no order.
  private(set) var ids: [RecordID] = []
  private var seenCount: UInt64 = 0
  /// Always the same, so that a compaction can be repeated.
  private var random: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// The most records of a sample: half of them make a dictionary of 16 KiB where rows have 64 bytes.
  static let countMax = 512

  /// A record that may be copied.
  mutating func note(_ id: RecordID) {
    seenCount += 1
    guard ids.count == CompactionSample.countMax else {
      ids.append(id)
      return
    }
    random ^= random << 13
    random ^= random >> 7
    random ^= random << 17
    let place = random.multipliedFullWidth(by: seenCount).high
    if place < UInt64(CompactionSample.countMax) { ids[Int(place)] = id }
  }
}

extension CompactionCodec {
  /// Longer bodies say nothing about how to store short ones, and are compressed by themselves when they are committed.
  static let sampledLengthMax = 4096
  /// What a dictionary takes of one body, at most.
  private static let dictionaryShareMax = 1024
  /// Less is not worth a frame.
  private static let dictionaryLengthMin = 256

  /// Decides how bodies like those of a sample are stored.
  ///
  /// Half of the sample makes a dictionary, and the other half shows what that is worth.
  ///
  /// - Parameters:
  ///   - bodies: Bodies of records, in the order of their IDs.
  ///   - liveByteCount: Bytes that will be copied: a dictionary takes no more than a thirty-second of them.
  ///   - segmentSizeLimit: Bytes of an output: a dictionary takes no more than a sixteenth.
  static func chosen(for bodies: [[UInt8]], liveByteCount: Int, segmentSizeLimit: Int) -> CompactionCodec {
    let lengthMax = min(CompactedDictionary.lengthMax, liveByteCount / 32, segmentSizeLimit / 16)
    let dictionary = dictionary(of: stride(from: 0, to: bodies.count, by: 2).map { bodies[$0] }, lengthMax: lengthMax)
    let alone = CompactionCodec(compresses: true)
    let known = CompactionCodec(compresses: true, dictionary: dictionary)
    var plainLength = 0
    var lengthAlone = 0
    var lengthKnown = 0
    for position in stride(from: 1, to: bodies.count, by: 2) {
      let body = bodies[position]
      plainLength += (RecordHeader.packedSize + body.count).roundedUpToEight
      lengthAlone += alone.recordLength(of: body)
      if !dictionary.isEmpty { lengthKnown += known.recordLength(of: body) }
    }
    // One that is not compressed while it is compacted may be kept compressed from before.
    if bodies.isEmpty { return alone }
    let usesDictionary = !dictionary.isEmpty && lengthKnown + plainLength / 16 <= lengthAlone
    guard min(lengthAlone, usesDictionary ? lengthKnown : .max) <= plainLength / 8 * 7 else {
      return CompactionCodec(compresses: false)
    }
    return usesDictionary ? known : alone
  }

  /// Bodies one behind the other, evenly chosen if there is no room for all; empty when it would not be worth it.
  private static func dictionary(of bodies: [[UInt8]], lengthMax: Int) -> [UInt8] {
    guard lengthMax >= dictionaryLengthMin else { return [] }
    let byteCount = bodies.reduce(0) { $0 + min($1.count, dictionaryShareMax) }
    let step = max(1, (byteCount + lengthMax - 1) / lengthMax)
    var result: [UInt8] = []
    for position in stride(from: 0, to: bodies.count, by: step) {
      result += bodies[position].prefix(min(dictionaryShareMax, lengthMax - result.count))
    }
    return result.count < dictionaryLengthMin ? [] : result
  }
}

extension CompactionRunner {
  /// Looks at a sample of what will be copied and decides how it is stored.
  func chooseCodec(for group: Group) -> CompactionCodec {
    guard context.options.compression == .compacted else { return CompactionCodec(compresses: false) }
    let snapshot = committer.published.snapshot()
    var bodies: [[UInt8]] = []
    for id in group.sample.ids.sorted() {
      guard let location = snapshot.state.objects.location(of: id), group.isInput[Int(location.slot)] else { continue }
      // A damaged one is met again when it is copied.
      let body = try? snapshot.state.read(at: location, of: id) { _, body in
        body.byteCount <= CompactionCodec.sampledLengthMax ? unsafe body.withUnsafeBytes { unsafe [UInt8]($0) } : nil
      }
      if let body = body ?? nil { bodies.append(body) }
    }
    return .chosen(
      for: bodies, liveByteCount: group.inputs.reduce(0) { $0 + $1.bytes.live },
      segmentSizeLimit: context.options.segmentSizeLimit)
  }
}
