/// The calls that a store makes for each of a few things that happen to it, in their order: what is durable when, and so
/// whether a crash can do harm, depends on nothing else. After a change that is meant, look at each line that is
/// another, and then copy it here.
enum GoldenTrace {
  /// What happens to the store of the test, one after the other, and the calls.
  static let phases: [(name: String, calls: String)] = [
    (
      "create a store",
      """
      open folder .: notFound
      create folder .
      open folder .
      sync folder .
      open folder .
      list .
      list .
      lock lock
      describe lock lock
      open manifest: for reading: notFound
      list .
      open folder .
      sync folder .
      create folder segments
      sync folder .
      open folder segments
      remove manifest.new: notFound
      create manifest.new
      write manifest.new: 1024 at 0
      sync manifest.new
      rename manifest.new: to manifest
      sync folder .
      close manifest.new
      open folder segments
      list segments
      list .
      open live: for writing: notFound
      create live
      write live: 512 at 0
      map live: 512 for writing
      lock live
      close live
      """
    ),
    (
      "first commit",
      """
      remove manifest.new: notFound
      create manifest.new
      write manifest.new: 1024 at 0
      sync manifest.new
      rename manifest.new: to manifest
      sync folder .
      close manifest.new
      store word live: at 256
      create segments/0000000000000001.log
      write segments/0000000000000001.log: 1024 at 0
      sync segments/0000000000000001.log
      sync folder segments
      map segments/0000000000000001.log: 4096 for writing
      store segments/0000000000000001.log: 120 at 8
      store word segments/0000000000000001.log: at 0
      store segments/0000000000000001.log: 120 at 136
      store word segments/0000000000000001.log: at 128
      sync segments/0000000000000001.log
      store live: 56 at 192
      store word live: at 248
      """
    ),
    (
      "commit with disk durability",
      """
      store segments/0000000000000001.log: 120 at 264
      store word segments/0000000000000001.log: at 256
      sync segments/0000000000000001.log
      store live: 56 at 128
      store word live: at 184
      """
    ),
    (
      "commit with system durability",
      """
      store segments/0000000000000001.log: 120 at 392
      store word segments/0000000000000001.log: at 384
      store live: 56 at 192
      store word live: at 248
      """
    ),
    (
      "commit for which the segment grows",
      """
      write segments/0000000000000001.log: 2576 at 1024
      store segments/0000000000000001.log: 3080 at 520
      store word segments/0000000000000001.log: at 512
      sync segments/0000000000000001.log
      store live: 56 at 128
      store word live: at 184
      """
    ),
    (
      "commit for which the log rolls",
      """
      remove manifest.new: notFound
      create manifest.new
      write manifest.new: 1024 at 0
      sync manifest.new
      rename manifest.new: to manifest
      sync folder .
      close manifest.new
      store word live: at 256
      create segments/0000000000000002.log
      write segments/0000000000000002.log: 1024 at 0
      sync segments/0000000000000002.log
      sync folder segments
      map segments/0000000000000002.log: 4096 for writing
      write segments/0000000000000002.log: 1024 at 1024
      set size segments/0000000000000001.log: 3600
      store segments/0000000000000002.log: 120 at 8
      store word segments/0000000000000002.log: at 0
      store segments/0000000000000002.log: 1584 at 136
      store word segments/0000000000000002.log: at 128
      sync segments/0000000000000001.log
      sync segments/0000000000000002.log
      store live: 56 at 192
      store word live: at 248
      """
    ),
    (
      "compact",
      """
      remove manifest.new: notFound
      create manifest.new
      write manifest.new: 1024 at 0
      sync manifest.new
      rename manifest.new: to manifest
      sync folder .
      close manifest.new
      store word live: at 256
      create segments/0000000000000003.log
      write segments/0000000000000003.log: 1024 at 0
      sync segments/0000000000000003.log
      sync folder segments
      map segments/0000000000000003.log: 4096 for writing
      set size segments/0000000000000002.log: 1720
      store segments/0000000000000003.log: 120 at 8
      store word segments/0000000000000003.log: at 0
      sync segments/0000000000000002.log
      sync segments/0000000000000003.log
      remove manifest.new: notFound
      create manifest.new
      write manifest.new: 1024 at 0
      sync manifest.new
      rename manifest.new: to manifest
      sync folder .
      close manifest.new
      store word live: at 256
      open segments/0000000000000001.log: for reading
      size segments/0000000000000001.log
      read segments/0000000000000001.log: 3600 at 0
      open segments/0000000000000002.log: for reading
      size segments/0000000000000002.log
      read segments/0000000000000002.log: 1720 at 0
      create segments/0000000000000004.compacted
      write segments/0000000000000004.compacted: 128 at 0
      write segments/0000000000000004.compacted: 1696 at 128
      write segments/0000000000000004.compacted: 96 at 1824
      sync segments/0000000000000004.compacted
      close segments/0000000000000004.compacted
      sync folder segments
      open segments/0000000000000004.compacted: for reading
      size segments/0000000000000004.compacted
      map segments/0000000000000004.compacted: 1920 for reading
      close segments/0000000000000004.compacted
      remove manifest.new: notFound
      create manifest.new
      write manifest.new: 1024 at 0
      sync manifest.new
      rename manifest.new: to manifest
      sync folder .
      close manifest.new
      store word live: at 256
      remove manifest.new: notFound
      create manifest.new
      write manifest.new: 1024 at 0
      sync manifest.new
      rename manifest.new: to manifest
      sync folder .
      close manifest.new
      store word live: at 256
      remove segments/0000000000000001.log
      remove segments/0000000000000002.log
      """
    ),
    (
      "close",
      """
      set size segments/0000000000000003.log: 128
      sync segments/0000000000000003.log
      sync folder segments
      remove manifest.new: notFound
      create manifest.new
      write manifest.new: 1024 at 0
      sync manifest.new
      rename manifest.new: to manifest
      sync folder .
      close manifest.new
      store word live: at 256
      store live: 56 at 128
      store word live: at 184
      unlock live
      unlock lock
      """
    ),
    (
      "open after a close",
      """
      open folder .
      list .
      lock lock
      describe lock lock
      open manifest: for reading
      size manifest
      read manifest: 1024 at 0
      close manifest
      open folder segments
      open segments/0000000000000004.compacted: for reading
      size segments/0000000000000004.compacted
      read segments/0000000000000004.compacted: 1920 at 0
      open segments/0000000000000004.compacted: for reading
      size segments/0000000000000004.compacted
      map segments/0000000000000004.compacted: 1920 for reading
      close segments/0000000000000004.compacted
      open segments/0000000000000003.log: for reading
      size segments/0000000000000003.log
      read segments/0000000000000003.log: 128 at 0
      open segments/0000000000000003.log: for reading
      size segments/0000000000000003.log
      map segments/0000000000000003.log: 128 for reading
      close segments/0000000000000003.log
      open segments/0000000000000003.log: for reading
      size segments/0000000000000003.log
      read segments/0000000000000003.log: 128 at 0
      open segments/0000000000000003.log: for reading
      size segments/0000000000000003.log
      read segments/0000000000000003.log: 128 at 0
      list segments
      list .
      open segments/0000000000000003.log: for writing
      map segments/0000000000000003.log: 4096 for writing
      open live: for writing
      write live: 512 at 0
      map live: 512 for writing
      lock live
      close live
      """
    ),
    (
      "first commit after a close",
      """
      write segments/0000000000000003.log: 1024 at 128
      store segments/0000000000000003.log: 120 at 136
      store word segments/0000000000000003.log: at 128
      sync segments/0000000000000003.log
      store live: 56 at 192
      store word live: at 248
      """
    ),
    (
      "kill",
      """
      """
    ),
    (
      "open after a kill",
      """
      open folder .
      list .
      lock lock
      describe lock lock
      open manifest: for reading
      size manifest
      read manifest: 1024 at 0
      close manifest
      open folder segments
      open segments/0000000000000004.compacted: for reading
      size segments/0000000000000004.compacted
      read segments/0000000000000004.compacted: 1920 at 0
      open segments/0000000000000004.compacted: for reading
      size segments/0000000000000004.compacted
      map segments/0000000000000004.compacted: 1920 for reading
      close segments/0000000000000004.compacted
      open segments/0000000000000003.log: for reading
      size segments/0000000000000003.log
      read segments/0000000000000003.log: 1152 at 0
      open segments/0000000000000003.log: for reading
      size segments/0000000000000003.log
      map segments/0000000000000003.log: 1152 for reading
      close segments/0000000000000003.log
      open segments/0000000000000003.log: for reading
      size segments/0000000000000003.log
      read segments/0000000000000003.log: 1152 at 0
      list segments
      list .
      open live: for writing
      write live: 512 at 0
      map live: 512 for writing
      lock live
      close live
      """
    ),
    (
      "first commit after a kill",
      """
      open segments/0000000000000003.log: for writing
      read segments/0000000000000003.log: 128 at 128
      write segments/0000000000000003.log: 128 at 128
      sync segments/0000000000000003.log
      close segments/0000000000000003.log
      sync folder segments
      remove manifest.new: notFound
      create manifest.new
      write manifest.new: 1024 at 0
      sync manifest.new
      rename manifest.new: to manifest
      sync folder .
      close manifest.new
      store word live: at 256
      open segments/0000000000000003.log: for writing
      set size segments/0000000000000003.log: 256
      create segments/0000000000000005.log
      write segments/0000000000000005.log: 1024 at 0
      sync segments/0000000000000005.log
      sync folder segments
      map segments/0000000000000005.log: 4096 for writing
      store segments/0000000000000005.log: 120 at 8
      store word segments/0000000000000005.log: at 0
      sync segments/0000000000000005.log
      store segments/0000000000000005.log: 120 at 136
      store word segments/0000000000000005.log: at 128
      sync segments/0000000000000005.log
      store live: 56 at 192
      store word live: at 248
      """
    ),
    (
      "close without a change",
      """
      store live: 56 at 192
      store word live: at 248
      unlock live
      unlock lock
      """
    ),
  ]
}
