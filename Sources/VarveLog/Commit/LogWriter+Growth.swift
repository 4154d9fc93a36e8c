extension LogWriter {
  /// Whether files are grown and prepared on threads of their own.
  private var growsAhead: Bool { context.options.growsAhead ?? active?.file.prefersGrowthAhead ?? false }

  // MARK: The active segment

  /// Makes room for a frame of `length` bytes and the reserve behind it in the active segment: what meets a full disk,
  /// meets it here, in front of any byte of a commit.
  ///
  /// - Parameter isFreeing: Whether the frame makes room in the end; see ``checkLeavesRoom(for:isFreeing:)``.
  mutating func grow(for length: Int, reserve: Int, isFreeing: Bool) throws(WriteFailure) {
    guard let end = active?.end, let capacity = active?.capacity else { return }
    let needed = end + UInt64(length)
    try cleanly { () throws(StoreError) in
      try awaitGrowth(through: max(needed, min(capacity, needed + UInt64(reserve))))
    }
    guard let written = active?.writtenThrough, min(capacity, needed + UInt64(reserve)) > written || needed > written
    else { return }
    let options = try checkLeavesRoom(for: needed - min(needed, written), isFreeing: isFreeing)
    try cleanly { () throws(StoreError) in try active?.grow(for: length, reserve: reserve, options: options) }
  }

  /// Takes over what a growth has written. Waits until that reaches `place`, or until it has ended.
  ///
  /// - Throws: What ended it, if it did not come so far. A full disk is met by whoever goes on: it may need less.
  private mutating func awaitGrowth(through place: UInt64) throws(StoreError) {
    guard let growth else { return }
    let progress = growth.progress(through: place)
    active?.writtenThrough = progress.reached
    guard progress.isDone else { return }
    self.growth = nil
    if let failure = progress.failure, progress.reached < place, failure.code != .diskFull { throw failure }
  }

  /// Waits for a growth before the segment is cut, sealed or left.
  mutating func finishGrowth() {
    // That there is no more room matters to whoever needs it.
    do throws(StoreError) { try awaitGrowth(through: .max) } catch {}
    roomMark = 0
  }

  /// Begins to grow the active segment when half of a step is used up.
  private mutating func growAhead() {
    guard growth == nil, growsAhead, let active, active.writtenThrough < active.capacity,
      active.end >= active.growthMark(context.options)
    else { return }
    // What commits have to leave on the disk, they do not get.
    var step = active.growthStep(context.options)
    if let spare = spareByteCount(isFreeing: false) { step = min(step, UInt64(max(spare, 0))) }
    guard step > 0 else { return }
    let next = SegmentGrowth(
      of: active.file, mapping: active.usesMapping ? active.mapped.mapping : nil, from: active.writtenThrough,
      through: min(active.capacity, active.writtenThrough + step))
    if context.threads.begin(next) { growth = next }
  }

  // MARK: The next segment

  /// Prepares the next segment when this one is half full. That there is no room for it is not yet a failure.
  private mutating func prepareEarly() throws(WriteFailure) {
    guard let end = active?.end, let capacity = active?.capacity, end > capacity / 2, prepared?.isReady != true else {
      return
    }
    if let preparation {
      guard preparation.isDone else { return }
      try finishPreparation()
      if prepared?.isReady == true { return }
    }
    do throws(WriteFailure) {
      try checkSegmentCount()
      if growsAhead {
        let next = BackgroundPreparation(
          makePreparation(byteCount: min(context.options.growthStepLimit, Int(capacity / 8))))
        if context.threads.begin(next) { preparation = next }
      }
      if preparation == nil { try prepare() }
    } catch { if error.poisons { throw error } }
  }

  /// Lists the next segment in the manifest, makes its file and writes its first zeros, all durable. Then a roll
  /// needs no manifest and no new file. A second call goes on where a first one met a full disk.
  mutating func prepare() throws(WriteFailure) {
    try finishPreparation()
    if prepared?.isReady == true { return }
    var preparation = makePreparation(byteCount: context.options.growthStep)
    defer { adopt(preparation) }
    try preparation.run()
  }

  private func makePreparation(byteCount: Int) -> SegmentPreparation {
    let options = context.options
    return SegmentPreparation(
      context, durable: durable, filled: filled,
      byteCount: UInt64(min(max(byteCount, options.growthStep), options.segmentSizeLimit)), next: prepared)
  }

  private mutating func adopt(_ preparation: SegmentPreparation) {
    prepared = preparation.next
    if preparation.hasSealed { for id in preparation.filled.keys { filled[id] = nil } }
    roomMark = 0
  }

  /// Waits for a preparation beside commits, and takes over what it did.
  ///
  /// - Throws: Only what poisons. Whatever else kept it from its end, whoever needs the segment meets it again.
  mutating func finishPreparation() throws(WriteFailure) {
    guard let outcome = preparation?.outcome() else { return }
    preparation = nil
    adopt(outcome.preparation)
    if let failure = outcome.failure, failure.poisons { throw failure }
  }

  // MARK: Room

  /// Opens, rolls, grows and prepares segments as needed for a frame of `length` bytes. A full disk is met here.
  ///
  /// - Parameter isFreeing: Whether the frame makes room in the end, and may use the reserve that others leave.
  @inline(never)
  mutating func lookForRoom(for length: Int, isFreeing: Bool) throws(WriteFailure) {
    defer { updateRoomMark() }
    if active == nil {
      try checkSegmentCount()
      _ = try checkLeavesRoom(for: UInt64(SegmentHeader.size + length), isFreeing: isFreeing)
      try startSegment(for: length)
    }
    if let end = active?.end, let capacity = active?.capacity, end + UInt64(length) > capacity {
      if slot == nil, end == UInt64(SegmentHeader.size) {
        try widenActiveSegment(for: length)
      } else {
        try finishPreparation()
        try checkSegmentCount()
        let size = max(UInt64(SegmentHeader.size + length), prepared?.writtenThrough ?? 0)
        _ = try checkLeavesRoom(for: size, isFreeing: isFreeing)
        try roll(for: length)
      }
    }
    let reserve = isFreeing ? 0 : context.options.freeingReserve
    if let end = active?.end, let written = active?.writtenThrough, end + UInt64(length + reserve) > written {
      try grow(for: length, reserve: reserve, isFreeing: isFreeing)
    }
    // At the end of a segment the next one is what deletes find room in.
    if !isFreeing, prepared?.isReady != true, let end = active?.end, let capacity = active?.capacity,
      end > UInt64(SegmentHeader.size), end + UInt64(length + reserve) > capacity
    {
      try finishPreparation()
      try checkSegmentCount()
      try prepare()
    }
    try prepareEarly()
    growAhead()
  }

  /// Notes up to where frames need none of that.
  private mutating func updateRoomMark() {
    roomMark = 0
    guard let active else { return }
    let reserve = UInt64(context.options.freeingReserve)
    var mark = active.writtenThrough - min(reserve, active.writtenThrough)
    if growth == nil, growsAhead, active.writtenThrough < active.capacity {
      mark = min(mark, active.growthMark(context.options))
    }
    if prepared?.isReady != true, preparation == nil {
      mark = min(mark, active.end > active.capacity / 2 ? 0 : active.capacity / 2)
    }
    roomMark = mark
  }
}
