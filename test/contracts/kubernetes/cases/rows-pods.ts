import type { Row } from "./row.ts";

const CONTAINERS = [{ name: "c", image: "i" }];
const THEN = "2024-01-01T00:00:00Z";
const RUNNING = { running: { startedAt: THEN } };
const C = { name: "c", image: "i", imageID: "" };

/** Pods in the states that their rows distinguish. */
export const POD_ROWS: readonly Row[] = [
  {
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    given: { spec: { containers: CONTAINERS, nodeName: "n" } },
    status: {
      phase: "Running",
      podIP: "10.0.0.1",
      podIPs: [{ ip: "10.0.0.1" }],
      containerStatuses: [{ ...C, ready: true, restartCount: 0, state: RUNNING, lastState: {} }],
    },
    cells: ["NAME", "1/1", "Running", "0", "AGE", "10.0.0.1", "n", "<none>", "<none>"],
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    given: { spec: { containers: CONTAINERS } },
    status: {
      phase: "Pending",
      containerStatuses: [
        { ...C, ready: false, restartCount: 3, state: { waiting: { reason: "ImagePullBackOff" } }, lastState: {} },
      ],
    },
    cells: ["NAME", "0/1", "ImagePullBackOff", "3", "AGE", "<none>", "<none>", "<none>", "<none>"],
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    given: { spec: { containers: CONTAINERS } },
    status: {
      phase: "Succeeded",
      containerStatuses: [
        {
          ...C,
          ready: false,
          restartCount: 0,
          state: { terminated: { exitCode: 0, reason: "Completed" } },
          lastState: {},
        },
      ],
    },
    cells: ["NAME", "0/1", "Completed", "0", "AGE", "<none>", "<none>", "<none>", "<none>"],
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    given: { spec: { containers: CONTAINERS } },
    status: {
      phase: "Failed",
      containerStatuses: [
        { ...C, ready: false, restartCount: 0, state: { terminated: { exitCode: 137, signal: 9 } }, lastState: {} },
      ],
    },
    cells: ["NAME", "0/1", "Signal:9", "0", "AGE", "<none>", "<none>", "<none>", "<none>"],
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    given: { spec: { containers: CONTAINERS } },
    status: {
      phase: "Failed",
      containerStatuses: [
        { ...C, ready: false, restartCount: 0, state: { terminated: { exitCode: 3 } }, lastState: {} },
      ],
    },
    cells: ["NAME", "0/1", "ExitCode:3", "0", "AGE", "<none>", "<none>", "<none>", "<none>"],
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    given: { spec: { containers: CONTAINERS } },
    status: { phase: "Failed", reason: "Evicted" },
    cells: ["NAME", "0/1", "Evicted", "0", "AGE", "<none>", "<none>", "<none>", "<none>"],
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    given: { spec: { containers: CONTAINERS, initContainers: [{ name: "i", image: "i" }] } },
    status: {
      phase: "Pending",
      initContainerStatuses: [
        { name: "i", image: "i", imageID: "", ready: false, restartCount: 0, state: RUNNING, lastState: {} },
      ],
    },
    cells: ["NAME", "0/1", "Init:0/1", "0", "AGE", "<none>", "<none>", "<none>", "<none>"],
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    given: { spec: { containers: CONTAINERS, initContainers: [{ name: "i", image: "i" }] } },
    status: {
      phase: "Pending",
      initContainerStatuses: [
        {
          name: "i",
          image: "i",
          imageID: "",
          ready: false,
          restartCount: 2,
          state: { terminated: { exitCode: 1, reason: "Error" } },
          lastState: {},
        },
      ],
    },
    cells: ["NAME", "0/1", "Init:Error", "2", "AGE", "<none>", "<none>", "<none>", "<none>"],
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    given: { spec: { containers: CONTAINERS, initContainers: [{ name: "i", image: "i" }] } },
    status: {
      phase: "Pending",
      initContainerStatuses: [
        {
          name: "i",
          image: "i",
          imageID: "",
          ready: false,
          restartCount: 0,
          state: { waiting: { reason: "CrashLoopBackOff" } },
          lastState: {},
        },
      ],
    },
    cells: ["NAME", "0/1", "Init:CrashLoopBackOff", "0", "AGE", "<none>", "<none>", "<none>", "<none>"],
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    given: { spec: { containers: CONTAINERS, initContainers: [{ name: "i", image: "i", restartPolicy: "Always" }] } },
    status: {
      phase: "Running",
      initContainerStatuses: [
        {
          name: "i",
          image: "i",
          imageID: "",
          ready: true,
          restartCount: 0,
          state: RUNNING,
          lastState: {},
          started: true,
        },
      ],
      containerStatuses: [{ ...C, ready: true, restartCount: 0, state: RUNNING, lastState: {} }],
    },
    cells: ["NAME", "2/2", "Running", "0", "AGE", "<none>", "<none>", "<none>", "<none>"],
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    given: { spec: { containers: CONTAINERS, schedulingGates: [{ name: "example.com/g" }] } },
    status: {
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated", lastTransitionTime: THEN }],
    },
    cells: ["NAME", "0/1", "SchedulingGated", "0", "AGE", "<none>", "<none>", "<none>", "<none>"],
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    given: {
      spec: {
        containers: CONTAINERS,
        readinessGates: [{ conditionType: "example.com/g" }, { conditionType: "example.com/h" }],
      },
    },
    status: {
      phase: "Running",
      conditions: [{ type: "example.com/g", status: "True", lastTransitionTime: THEN, reason: "R", message: "m" }],
    },
    cells: ["NAME", "0/1", "Running", "0", "AGE", "<none>", "<none>", "<none>", "1/2"],
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    given: {
      spec: {
        containers: [
          { name: "c", image: "i" },
          { name: "d", image: "j" },
        ],
      },
    },
    status: {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: THEN, reason: "R", message: "m" }],
      containerStatuses: [
        {
          ...C,
          ready: false,
          restartCount: 0,
          state: { terminated: { exitCode: 0, reason: "Completed" } },
          lastState: {},
        },
        { name: "d", image: "i", imageID: "", ready: true, restartCount: 0, state: RUNNING, lastState: {} },
      ],
    },
    cells: ["NAME", "1/2", "Running", "0", "AGE", "<none>", "<none>", "<none>", "<none>"],
  },
];
