import type { Pod } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { podProblem } from "./rollout.ts";

const crashing = (lastState?: object, message = "back-off 10s restarting failed container") =>
  ({
    metadata: { namespace: "hcp-one", name: "etcd-0" },
    status: {
      containerStatuses: [
        { state: { waiting: { reason: "CrashLoopBackOff", message } }, ...(lastState && { lastState }) },
      ],
    },
  }) as unknown as Pod;

describe("the problem of a pod that ends again and again", () => {
  const stack = "go.etcd.io/etcd/server/v3/storage/wal.(*WAL).Save ".repeat(10);
  const error = "write /var/lib/etcd/data/member/wal/0.tmp: no space left on device";
  test.for<[title: string, lastState: object | undefined, message: string]>([
    ["is the kubelet's reason before it ended once", undefined, "back-off 10s restarting failed container"],
    ["has its exit status where it said nothing", { terminated: { exitCode: 137 } }, "exit status 137"],
    [
      "has message and error of the last JSON line that is an error, without its stack",
      {
        terminated: {
          exitCode: 1,
          message: `{"level":"warn","msg":"slow"}\n${JSON.stringify({ level: "fatal", msg: "failed to save", error, stacktrace: stack })}\n{"level":"warn","msg":"closing"}\n`,
        },
      },
      `exit status 1: failed to save: ${error}`,
    ],
    [
      "has the error of a program of Kubernetes, not its usage",
      {
        terminated: {
          exitCode: 1,
          message: 'E0101 00:00:00.000000 1 run.go:72] "command failed" err="no etcd"\nUsage:\n',
        },
      },
      'exit status 1: E0101 00:00:00.000000 1 run.go:72] "command failed" err="no etcd"',
    ],
  ])("%s", ([, lastState, message]) => {
    const expected = { code: "CONTROL_PLANE_CRASHING", actor: "operator", message: `Pod hcp-one/etcd-0: ${message}` };
    expect(podProblem([crashing(lastState)])).toEqual(expected);
  });
});
