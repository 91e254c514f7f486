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
  const audited = JSON.stringify({
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    level: "Metadata",
    auditID: "9b1d",
    stage: "ResponseComplete",
    requestURI: "/api/v1/namespaces/shop/secrets/token",
    stageTimestamp: "2026-01-01T00:00:00.000000Z",
    annotations: { "authorization.k8s.io/decision": "allow" },
  });
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
    [
      "has the whole line where JSON has an escape that there is not",
      { terminated: { exitCode: 1, message: String.raw`{"level":"error","msg":"a\qb"}` } },
      String.raw`exit status 1: {"level":"error","msg":"a\qb"}`,
    ],
    [
      "has a space for a tab that JSON does not permit",
      { terminated: { exitCode: 1, message: '{"level":"error","msg":"a\tb"}' } },
      'exit status 1: {"level":"error","msg":"a b"}',
    ],
    [
      "has a space for line ends, escape sequences and marks of direction",
      {
        terminated: { exitCode: 1, message: JSON.stringify({ level: "error", msg: "a\r\nb\u001b[2Jc\u202ed\u2028e" }) },
      },
      "exit status 1: a b [2Jc d e",
    ],
    [
      "has no escape sequences of a line that is not JSON",
      { terminated: { exitCode: 1, message: "Error: no \u001b[31mfile\u001b[0m\r\n" } },
      "exit status 1: Error: no [31mfile [0m",
    ],
    [
      "has the error of a JSON line whose level is its first field, not of one that has a level inside",
      {
        terminated: {
          exitCode: 1,
          message: `${JSON.stringify({ level: "error", msg: "no etcd" })}\n${JSON.stringify({ body: { level: "error", msg: "of a user" } })}\n`,
        },
      },
      "exit status 1: no etcd",
    ],
    [
      "has its exit status where a killed API server left audit events only, the first of them cut off",
      { terminated: { exitCode: 137, message: `${audited.slice(-120)}\n${audited}\n${audited}\n` } },
      "exit status 137",
    ],
    [
      "has the last line that is no audit event",
      { terminated: { exitCode: 137, message: `${audited}\nI0101 00:00:00.000000 1 a.go:1] "serving"\n${audited}\n` } },
      'exit status 137: I0101 00:00:00.000000 1 a.go:1] "serving"',
    ],
  ])("%s", ([, lastState, message]) => {
    const expected = { code: "CONTROL_PLANE_CRASHING", actor: "operator", message: `Pod hcp-one/etcd-0: ${message}` };
    expect(podProblem([crashing(lastState)])).toEqual(expected);
  });
});

test("the problem of an image has one line, whatever its registry responds with", () => {
  const waiting = { reason: "ErrImagePull", message: "registry: 502\n\u001b[1m<html>" };
  const pod = { ...crashing(), status: { containerStatuses: [{ state: { waiting } }] } } as unknown as Pod;
  expect(podProblem([pod])).toEqual({
    code: "CONTROL_PLANE_IMAGE_MISSING",
    actor: "operator",
    message: "Pod hcp-one/etcd-0: its image cannot be pulled: registry: 502 [1m<html>",
  });
});
