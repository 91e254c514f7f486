import type { PodRow } from "./row.ts";
import { c, probe, http } from "./pod-shapes.ts";
import { COUNTED, PORT } from "./words.ts";

/** What is given, and why it is refused. */
export const podHandlers: readonly PodRow[] = [
  ["probe: nothing", probe({}), ["spec.containers[0].livenessProbe: Required value: must specify a handler type"]],
  [
    "probe: two",
    probe({ httpGet: { port: 80 }, tcpSocket: { port: 80 } }),
    ["spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"],
  ],
  ["probe: port", http({ port: 0 }), [`spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0: ${PORT}`]],
  [
    "probe: port name",
    http({ port: "Bad_" }),
    [
      'spec.containers[0].livenessProbe.httpGet.port: Invalid value: "Bad_": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    ],
  ],
  [
    "probe: scheme",
    http({ scheme: "X" }),
    ['spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "X": supported values: "HTTP", "HTTPS"'],
  ],
  [
    "probe: header",
    http({ httpHeaders: [{ name: "a b", value: "c" }] }),
    [
      "spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid value: \"a b\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
    ],
  ],
  [
    "probe: socket port",
    probe({ tcpSocket: { port: 70000 } }),
    [`spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: 70000: ${PORT}`],
  ],
  ["probe: no command", probe({ exec: {} }), ["spec.containers[0].livenessProbe.exec.command: Required value"]],
  [
    "probe: grpc port",
    probe({ grpc: { port: 0 } }),
    [`spec.containers[0].livenessProbe.grpc.port: Invalid value: 0: ${PORT}`],
  ],
  [
    "probe: period",
    probe({ tcpSocket: { port: 80 }, periodSeconds: -1 }),
    [`spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: ${COUNTED}`],
  ],
  [
    "probe: timeout",
    probe({ tcpSocket: { port: 80 }, timeoutSeconds: -1 }),
    [`spec.containers[0].livenessProbe.timeoutSeconds: Invalid value: -1: ${COUNTED}`],
  ],
  [
    "probe: delay",
    probe({ tcpSocket: { port: 80 }, initialDelaySeconds: -1 }),
    [`spec.containers[0].livenessProbe.initialDelaySeconds: Invalid value: -1: ${COUNTED}`],
  ],
  [
    "probe: failures",
    probe({ tcpSocket: { port: 80 }, failureThreshold: -1 }),
    [`spec.containers[0].livenessProbe.failureThreshold: Invalid value: -1: ${COUNTED}`],
  ],
  [
    "probe: successes",
    probe({ tcpSocket: { port: 80 }, successThreshold: 2 }),
    ["spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"],
  ],
  [
    "probe: startup successes",
    probe({ tcpSocket: { port: 80 }, successThreshold: 2 }, "startupProbe"),
    ["spec.containers[0].startupProbe.successThreshold: Invalid value: 2: must be 1"],
  ],
  [
    "probe: grace 0",
    probe({ tcpSocket: { port: 80 }, terminationGracePeriodSeconds: 0 }),
    ["spec.containers[0].livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0"],
  ],
  [
    "probe: readiness grace",
    probe({ tcpSocket: { port: 80 }, terminationGracePeriodSeconds: 5 }, "readinessProbe"),
    [
      "spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes",
    ],
  ],
  [
    "lifecycle: nothing",
    c({ lifecycle: { postStart: {} } }),
    ["spec.containers[0].lifecycle.postStart: Required value: must specify a handler type"],
  ],
  [
    "lifecycle: no command",
    c({ lifecycle: { preStop: { exec: {} } } }),
    ["spec.containers[0].lifecycle.preStop.exec.command: Required value"],
  ],
  [
    "lifecycle: sleep",
    c({ lifecycle: { preStop: { sleep: { seconds: -1 } } } }),
    [
      "spec.containers[0].lifecycle.preStop.sleep: Invalid value: -1: must be non-negative and less than terminationGracePeriodSeconds (30)",
    ],
  ],
  [
    "lifecycle: long sleep",
    c({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
    [
      "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)",
    ],
  ],
];
