import type { Metrics } from "@causeway/foundation";

/** Labels of kube-apiserver's request metrics, in the names that dashboards know. */
const ROUTE = ["verb", "group", "version", "resource", "subresource", "scope", "component"] as const;
const KIND = ["group", "version", "resource"] as const;

const LATENCY = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
] as const;
const ADMISSION = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25] as const;
const powers = (first: number, factor: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => first * factor ** i);

/** Metrics about requests. Names, labels and buckets are kube-apiserver's 1.34 (component-base/metrics). */
export function requestFamilies(metrics: Metrics) {
  return {
    requests: metrics.counter({
      name: "apiserver_request_total",
      help: "Requests by verb, dry run, kind, scope and HTTP code.",
      labels: [...ROUTE, "dry_run", "code"],
    }),
    duration: metrics.histogram({
      name: "apiserver_request_duration_seconds",
      help: "Time from request to the end of its answer.",
      labels: [...ROUTE, "dry_run"],
      buckets: LATENCY,
    }),
    sliDuration: metrics.histogram({
      name: "apiserver_request_sli_duration_seconds",
      help: "The same without the time spent in webhooks and in priority and fairness queues.",
      labels: ROUTE,
      buckets: LATENCY.slice(2),
    }),
    responseSizes: metrics.histogram({
      name: "apiserver_response_sizes",
      help: "Bytes of answers to reads.",
      labels: ROUTE,
      buckets: powers(1000, 10, 7),
    }),
    bodySizes: metrics.histogram({
      name: "apiserver_request_body_size_bytes",
      help: "Bytes of request bodies.",
      labels: ["group", "resource", "verb"],
      buckets: Array.from({ length: 31 }, (_, i) => 50_000 + i * 100_000),
    }),
    terminations: metrics.counter({
      name: "apiserver_request_terminations_total",
      help: "Requests that the server refused to protect itself.",
      labels: [...ROUTE, "code"],
    }),
    inflight: metrics.gauge({
      name: "apiserver_current_inflight_requests",
      help: "Requests being served that are not long-running.",
      labels: ["request_kind"],
    }),
    inqueue: metrics.gauge({
      name: "apiserver_current_inqueue_requests",
      help: "Requests that wait in priority and fairness queues.",
      labels: ["request_kind"],
    }),
    longRunning: metrics.gauge({
      name: "apiserver_longrunning_requests",
      help: "Open long-running requests.",
      labels: ROUTE,
    }),
    watchEvents: metrics.counter({
      name: "apiserver_watch_events_total",
      help: "Events sent to watches.",
      labels: KIND,
    }),
    watchEventSizes: metrics.histogram({
      name: "apiserver_watch_events_sizes",
      help: "Bytes of events sent to watches.",
      labels: KIND,
      buckets: powers(1024, 2, 8),
    }),
  };
}

/** Metrics about who asks and whether they may. */
export function accessFamilies(metrics: Metrics) {
  return {
    users: metrics.counter({
      name: "authenticated_user_requests",
      help: "Authenticated requests by user, of whom only few are named.",
      labels: ["username"],
    }),
    attempts: metrics.counter({
      name: "authentication_attempts",
      help: "Attempts to authenticate.",
      labels: ["result"],
    }),
    authentication: metrics.histogram({
      name: "authentication_duration_seconds",
      help: "Time that authentication took.",
      labels: ["result"],
      buckets: powers(0.001, 2, 15),
    }),
    authorizations: metrics.counter({
      name: "authorization_attempts_total",
      help: "Authorization decisions: allowed, denied, no-opinion or error.",
      labels: ["result"],
    }),
    authorization: metrics.histogram({
      name: "authorization_duration_seconds",
      help: "Time that authorization took.",
      labels: ["result"],
      buckets: powers(0.001, 2, 15),
    }),
    auditEvents: metrics.counter({ name: "apiserver_audit_event_total", help: "Audit events handed to the backend." }),
    auditErrors: metrics.counter({
      name: "apiserver_audit_error_total",
      help: "Audit events that were lost: webhook, after its attempts; buffered, since too many waited.",
      labels: ["plugin"],
    }),
    admission: metrics.histogram({
      name: "apiserver_admission_controller_admission_duration_seconds",
      help: "Time that one admission controller took.",
      labels: ["name", "operation", "rejected", "type"],
      buckets: ADMISSION,
    }),
  };
}

/** Metrics about the server's own controllers. */
export function workFamilies(metrics: Metrics) {
  return {
    adds: metrics.counter({ name: "workqueue_adds_total", help: "Keys added to a queue.", labels: ["name"] }),
    depth: metrics.gauge({ name: "workqueue_depth", help: "Keys that wait in a queue.", labels: ["name"] }),
    retries: metrics.counter({ name: "workqueue_retries_total", help: "Keys tried again.", labels: ["name"] }),
  };
}

/** What is read from the store and the process when metrics are requested. */
export function stateFamilies(metrics: Metrics) {
  return {
    objects: metrics.gauge({
      name: "apiserver_storage_objects",
      help: "Stored objects by resource.",
      labels: ["resource"],
    }),
    resourceObjects: metrics.gauge({
      name: "apiserver_resource_objects",
      help: "Stored objects by group and resource.",
      labels: ["group", "resource"],
    }),
    resourceBytes: metrics.gauge({
      name: "apiserver_resource_size_estimate_bytes",
      help: "Bytes of stored objects by group and resource.",
      labels: ["group", "resource"],
    }),
    size: metrics.gauge({
      name: "apiserver_storage_size_bytes",
      help: "Bytes of all stored objects.",
      labels: ["storage_cluster_id"],
    }),
    held: metrics.gauge({
      name: "causeway_apiserver_cluster_held",
      help: "What the cluster holds of what it has a limit for: objects, bytes.",
      labels: ["resource"],
    }),
    limits: metrics.gauge({
      name: "causeway_apiserver_cluster_limit",
      help: "What the cluster may hold at most: objects, bytes.",
      labels: ["resource"],
    }),
    problems: metrics.gauge({
      name: "causeway_apiserver_problem",
      help: "1 for what keeps the server from working: disk, descriptors, workers; else 0.",
      labels: ["check"],
    }),
    build: metrics.gauge({
      name: "kubernetes_build_info",
      help: "1, with the Kubernetes version that is served.",
      labels: ["major", "minor", "git_version", "git_commit", "git_tree_state", "build_date", "platform"],
    }),
  };
}

/** What the operating system and the runtime say of the process. */
export function processFamilies(metrics: Metrics) {
  return {
    cpu: metrics.counter({ name: "process_cpu_seconds_total", help: "CPU time of the process." }),
    resident: metrics.gauge({ name: "process_resident_memory_bytes", help: "Resident memory of the process." }),
    virtual: metrics.gauge({ name: "process_virtual_memory_bytes", help: "Virtual memory of the process." }),
    started: metrics.gauge({ name: "process_start_time_seconds", help: "When the process started, as Unix time." }),
    openFiles: metrics.gauge({ name: "process_open_fds", help: "Open file descriptors." }),
    mostFiles: metrics.gauge({ name: "process_max_fds", help: "File descriptors that may be open." }),
    heapUsed: metrics.gauge({ name: "nodejs_heap_size_used_bytes", help: "Bytes of the heap in use." }),
    heapTotal: metrics.gauge({ name: "nodejs_heap_size_total_bytes", help: "Bytes of the heap." }),
    external: metrics.gauge({ name: "nodejs_external_memory_bytes", help: "Bytes held outside of the heap." }),
    loop: metrics.gauge({
      name: "nodejs_eventloop_utilization",
      help: "Share of its time that the event loop was busy, since the process started.",
    }),
  };
}
