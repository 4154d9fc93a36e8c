import CVarve
import Synchronization

/// The thread of a ``ThreadExecutor``, with its queue. Lives until the queue is done, whatever becomes of the executor.
final class WorkThread: Sendable {
  /// One piece of work.
  enum Work: Sendable {
    /// A job of an actor, to be run on the executor.
    case job(UnownedJob, ThreadExecutor)
    /// A call.
    case call(@Sendable () -> Void)

    func perform() {
      switch self {
      case .job(let job, let executor): unsafe job.runSynchronously(on: executor.asUnownedSerialExecutor())
      case .call(let body): body()
      }
    }
  }

  private struct State {
    var queue: [Work] = []
    var isStopping = false
    var hasThread = false
    /// The thread, until somebody takes it to join it. At its end it detaches itself if nobody did.
    var joinable: varve_thread?
  }

  private enum Step: Sendable {
    case perform([Work])
    case end(detaching: Bool)
  }

  /// A number, not zero, that no other living thread than the calling one has.
  static var currentIdentity: UInt64 { varve_thread_identity() }

  private let name: String
  private let isLowPriority: Bool
  private let state = Monitor(State())
  /// The identity of the thread, zero when there is none.
  private let identity = Atomic<UInt64>(0)

  init(name: String, isLowPriority: Bool) {
    self.name = name
    self.isLowPriority = isLowPriority
  }

  /// Starts the thread.
  func start() throws(SystemError) {
    try state.change { state throws(SystemError) in try start(&state) }
  }

  /// Starts the thread if there is none.
  func startIfNeeded() throws(SystemError) {
    try state.change { state throws(SystemError) in if !state.hasThread { try start(&state) } }
  }

  /// Adds work at the end of the queue.
  func enqueue(_ work: Work) {
    state.change { state in
      state.queue.append(work)
      if state.hasThread { return }
      do throws(SystemError) {
        try start(&state)
      } catch {
        preconditionFailure("no thread could be started for work that came after the stop of \(name): \(error)")
      }
    }
  }

  /// Lets the thread end when the queue is done.
  func requestStop() {
    state.change { $0.isStopping = true }
  }

  /// Lets the thread end when the queue is done, and waits for that unless this is the thread.
  func stop() {
    let isCurrent = self.isCurrent
    let joinable = state.change { state -> varve_thread? in
      state.isStopping = true
      if isCurrent { return nil }
      return state.joinable.take()
    }
    if let joinable {
      varve_thread_join(joinable)
    } else if !isCurrent {
      // Somebody else joins it, or it is gone already.
      state.wait { $0.hasThread ? nil : () }
    }
  }

  /// Whether the calling thread is this one.
  var isCurrent: Bool { identity.load(ordering: .relaxed) == varve_thread_identity() }

  private func start(_ state: inout State) throws(SystemError) {
    var thread = varve_thread()
    let argument = unsafe Unmanaged.passRetained(self)
    let result = unsafe varve_thread_start(
      &thread,
      { argument in
        guard let argument = unsafe argument else { return }
        unsafe Unmanaged<WorkThread>.fromOpaque(argument).takeRetainedValue().run()
      }, argument.toOpaque())
    if result < 0 { unsafe argument.release() }
    try SystemCalls.check(result)
    state.hasThread = true
    state.joinable = thread
  }

  private func run() {
    unsafe varve_thread_set_name(name)
    if isLowPriority { varve_thread_lower_priority() }
    identity.store(varve_thread_identity(), ordering: .relaxed)
    while true {
      switch nextStep() {
      case .perform(let batch):
        for work in batch { work.perform() }
      case .end(let isDetaching):
        if isDetaching { varve_thread_detach_current() }
        return
      }
    }
  }

  /// Waits for work or the end. Which of the two is settled in one step, so that no work comes between.
  private func nextStep() -> Step {
    state.wait { state in
      if !state.queue.isEmpty {
        defer { state.queue = [] }
        return .perform(state.queue)
      }
      guard state.isStopping else { return nil }
      identity.store(0, ordering: .relaxed)
      state.hasThread = false
      return .end(detaching: state.joinable.take() != nil)
    }
  }
}
