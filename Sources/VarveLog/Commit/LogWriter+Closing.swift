extension LogWriter {
  /// Makes everything durable, seals the log and says so in the manifest. A poisoned store is only let go.
  mutating func close() throws(StoreError) {
    guard !isClosed else { return }
    isClosed = true
    // Whatever else is at work: from here on the files belong to whoever opens the store next.
    defer {
      context.manifests.close()
      live?.close(durable: durable)
    }
    finishGrowth()
    let wasPoisoned = poison != nil
    do throws(WriteFailure) { try finishPreparation() } catch {
      let failure = note(error)
      if !wasPoisoned { throw failure }
    }
    guard poison == nil else { return }
    do throws(WriteFailure) {
      try settleAndSync()
      guard let active else { return }
      // Nothing happened since a clean opening, not even growth.
      if context.manifests.current.closedEnd == end, active.writtenThrough == active.end { return }
      active.mapped.setReadableLength(active.end)
      try poisoningly { () throws(StoreError) in
        try active.file.setSize(active.end)
        try active.file.sync()
        try prepared?.file?.setSize(0)
      }
      let filled = self.filled
      let end = self.end
      try context.manifests.replace(provenEnd: end) { manifest in
        LogWriter.seal(filled, in: &manifest)
        manifest.closedEnd = end
      }
    } catch {
      throw note(error)
    }
  }
}
