import Testing
import VarveLog
import VarveTestSupport

/// The rows of the recovery table on what is met while reading: damage, and files that cannot be read.
@Suite struct `Recovery: reading` {
  /// An open store, and where the record stands of which nothing was read yet.
  private static func openStore(
    _ options: StoreOptions = .small(segmentSizeLimit: 65_536)
  ) throws -> (store: TestStore, file: any File, offset: UInt64) {
    let store = try TestStore(options)
    try store.commitRecords(1...3, length: 48)
    try store.commit([.put(.test(4), Workload.compressible)])
    try store.close()
    try store.open()
    let layout = try LogLayout(of: store.image)
    let (segment, frame) = try #require(layout.frame(of: CommitSequence(rawValue: 2)))
    let file = try store.files.openDirectory(at: "store").openDirectory(StoreLayout.segmentFolder)
      .openFile(StoreLayout.fileName(segment.listed.file), for: .writing)
    return (store, file, UInt64(frame.offset + FrameHeader.size))
  }

  // Proof: the record has a checksum of its own, which is compared when it is first read. Each byte of it, header and
  // body, in turn is another after the store was opened.
  @Test func `a damaged record met later by a read throws with ID and place, and the rest works`() throws {
    for place in 0..<UInt64(RecordHeader.size + 48) {
      let (store, file, offset) = try Self.openStore()
      let byte = try file.bytes(at: offset + place, count: 1)[0]
      try file.write([byte ^ 0x20], at: offset + place)
      let snapshot = store.store.snapshot()
      for read: (Snapshot) throws -> Void in [
        { _ = try $0.bytes(of: .test(2)) }, { _ = try $0.read(.test(2)) { _, body in body.byteCount } },
        { _ = try $0.version(of: .test(2)) }, { _ = try $0.allRecords() },
      ] {
        let error = #expect(throws: StoreError.self) { try read(snapshot) }
        #expect(error?.code == .corrupt)
        #expect(error?.location.record == .test(2))
        #expect(error?.location.file == "segments/0000000000000001.log")
        #expect(error?.location.offset == offset)
      }
      #expect(try snapshot.bytes(of: .test(1)) == .test(1, length: 48))
      #expect(try snapshot.bytes(of: .test(3)) == .test(3, length: 48))
      #expect(snapshot.contains(.test(2)) && snapshot.count == 4)
      // Whoever needs to know the damaged record's version is refused; whoever does not can replace it.
      let error = #expect(throws: StoreError.self) {
        try store.store.commit { batch in
          batch.expect(.test(2), version: CommitSequence(rawValue: 2))
          try batch.put(.test(2), [1])
        }
      }
      #expect(error?.code == .corrupt)
      try store.store.commit { try $0.put(.test(2), [1]) }
      #expect(try store.store.snapshot().bytes(of: .test(2)) == [1])
      #expect(try store.store.snapshot().allRecords().count == 4)
    }
  }

  @Test func `damage behind the first read is met when every read verifies`() throws {
    for verifiesEveryRead in [false, true] {
      var options = StoreOptions.small(segmentSizeLimit: 65_536)
      options.verifiesEveryRead = verifiesEveryRead
      let (store, file, offset) = try Self.openStore(options)
      let snapshot = store.store.snapshot()
      #expect(try snapshot.bytes(of: .test(2)) == .test(2, length: 48))
      let place = offset + UInt64(RecordHeader.size) + 5
      try file.write([try file.bytes(at: place, count: 1)[0] ^ 1], at: place)
      if verifiesEveryRead {
        #expect(throws: StoreError.self) { try snapshot.bytes(of: .test(2)) }
      } else {
        #expect(try snapshot.bytes(of: .test(2))?.count == 48)
      }
    }
  }

  // The damage is given right checksums, as only malice can: then there is no proof, but still no crash, no wrong
  // length and no memory beyond what the block could hold.
  @Test func `a compressed body that does not decode is damage, at each byte`() throws {
    let (store, file, _) = try Self.openStore()
    let (_, frame) = try #require(try LogLayout(of: store.image).frame(of: CommitSequence(rawValue: 4)))
    let start = UInt64(frame.offset + FrameHeader.size)
    let intact = try file.bytes(at: start, count: frame.header.length - FrameHeader.size)
    let header = try #require(unsafe intact.withUnsafeBytes { unsafe RecordHeader(decoding: $0) })
    #expect(header.isCompressed && header.storedLength < Workload.compressible.count)
    var decodedCount = 0
    for place in RecordHeader.size..<RecordHeader.size + header.storedLength {
      for mask in [0x01, 0x80, 0xFF] as [UInt8] {
        var record = intact
        record[place] ^= mask
        let checksum = unsafe record.withUnsafeBytes {
          unsafe RecordHeader.checksum(record: $0, storedLength: header.storedLength)
        }
        for byte in 0..<4 { record[byte] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(byte))) }
        try file.write(record, at: start)
        var options = store.options
        options.verifiesEveryRead = true
        do {
          let body = try store.store.snapshot().bytes(of: .test(4))
          #expect(body?.count == Workload.compressible.count)
          decodedCount += 1
        } catch {
          #expect(error.code == .corrupt && error.location.record == .test(4))
        }
        try file.write(intact, at: start)
      }
    }
    // Bytes that are literals decode to others; that is what the checksum is for.
    #expect(decodedCount > 0)
    #expect(try store.store.snapshot().bytes(of: .test(4)) == Workload.compressible)
  }

  // MARK: Files that cannot be read

  /// A store with several segments of both kinds, an unclean end, and files to be removed.
  private static func imageWithEverything() async throws -> (image: StoreImage, history: CommitHistory) {
    let store = try TestStore()
    try store.run(Workload(seed: 5), commits: 60)
    try await store.store.compact()
    try store.run(Workload(seed: 5), commits: 60)
    store.kill()
    var image = try store.image
    var manifest = try #require(image.manifest)
    for kind in [SegmentKind.log, .compacted] {
      let file = SegmentFile(kind: kind, id: SegmentID(rawValue: manifest.nextSegmentID))
      manifest.nextSegmentID += 1
      manifest.preparing.append(file)
      image.files[StoreLayout.path(file)] = [1, 2, 3]
    }
    image.files[StoreLayout.manifest] = manifest.encoded()
    return (image, store.history)
  }

  /// What the calls of a kind are about, in their order, while a store is opened.
  private static func paths(
    of kind: FileOperation.Kind, in image: StoreImage, _ options: StoreOptions
  ) throws -> [String] {
    let paths = Guarded<[String]>([])
    let files = WatchedFileSystem(try image.fileSystem()) { operation in
      if operation.kind == kind { paths.withLock { $0.append(operation.path) } }
    }
    let store = try LogStore.open(at: "store", options: options, fileSystem: files)
    defer { withExtendedLifetime(store) {} }
    return paths.withLock { $0 }
  }

  // Proof: all commits are acknowledged, and no byte is damaged; the n-th call of a kind fails while the store is
  // opened, for each n. An unreadable file is not taken for a damaged one.
  @Test(arguments: [
    (SystemError.inputOutput, StoreError.Code.ioFailure), (.accessDenied, .permissionDenied),
    (.tooManyOpenFiles, .ioFailure),
  ])
  func `what cannot be read fails the opening and changes nothing`(
    error: SystemError, code: StoreError.Code
  ) async throws {
    let (image, history) = try await Self.imageWithEverything()
    let manifest = try #require(image.manifest)
    let garbage = (manifest.preparing + manifest.removable).map(StoreLayout.path)
    for kind in [.openDirectory, .list, .open, .size, .read, .map, .lock, .probeLock, .remove, .syncDirectory]
      as [FileOperation.Kind]
    {
      for isReadOnly in [false, true] {
        var options = StoreOptions.small(seed: 42)
        options.isReadOnly = isReadOnly
        let paths = try Self.paths(of: kind, in: image, options)
        let unused: [FileOperation.Kind] = isReadOnly ? [.lock, .remove, .syncDirectory] : [.probeLock]
        #expect(!paths.isEmpty || unused.contains(kind))
        for (number, path) in paths.enumerated() {
          let base = try image.fileSystem()
          let files = FailingFileSystem(base)
          files.fail(FailingFileSystem.Fault([kind], at: number + 1, error: error))
          if kind == .probeLock || path.hasSuffix("/live") {
            // Who else has the store open is worth knowing, but nothing that an opening depends on.
            let store = try LogStore.open(at: "store", options: options, fileSystem: files)
            #expect(try store.snapshot().allRecords() == history.current, "\(kind) number \(number + 1)")
            #expect(isReadOnly || store.recoveryReport.liveFileFailure != nil, "\(kind) number \(number + 1)")
          } else {
            let found = #expect(throws: StoreError.self, "\(kind) number \(number + 1)") {
              try LogStore.open(at: "store", options: options, fileSystem: files)
            }
            #expect(found?.code == code, "\(kind) number \(number + 1): \(String(describing: found))")
          }
          var left = try StoreImage(of: "store", on: base)
          // What the manifest lists for removal may be gone; it is not part of the store.
          for path in garbage { left.files[path] = image.files[path] }
          #expect(left.differences(from: image).isEmpty)
          files.heal()
          let store = try LogStore.open(at: "store", options: options, fileSystem: files)
          #expect(try store.snapshot().allRecords() == history.current)
        }
      }
    }
  }

  @Test func `reading through a failing device fails and changes nothing, for ever`() async throws {
    let (image, _) = try await Self.imageWithEverything()
    let base = try image.fileSystem()
    let files = FailingFileSystem(base)
    files.fail(FailingFileSystem.Fault([.read], error: .inputOutput, isPermanent: true))
    for _ in 0..<3 {
      let error = #expect(throws: StoreError.self) {
        try LogStore.open(at: "store", options: .small(), fileSystem: files)
      }
      #expect(error?.code == .ioFailure)
      #expect(error?.isCorruption == false)
    }
    #expect(try StoreImage(of: "store", on: base).differences(from: image).isEmpty)
  }
}

extension Workload {
  /// Two kilobytes that become far fewer when compressed.
  static var compressible: [UInt8] { (0..<2048).map { UInt8($0 / 100 * 7 % 251) } }
}
