import type { KubeObject } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { marks, type Member } from "./graph.ts";
import { refuseUnmovable } from "./refusals.ts";

function member(kind: string, more: object = {}, metadata: object = {}): Member {
  const type = { group: "x", version: "v1", kind, plural: "all", namespaced: true };
  const object = { apiVersion: "x/v1", kind, metadata: { namespace: "n", name: "web", ...metadata }, ...more };
  return { type, object: object as unknown as KubeObject };
}
const plane = (runtime: string | undefined, status: object = {}): Member =>
  member("HostedControlPlane", { spec: {}, status: { ...(runtime === undefined ? {} : { runtime }), ...status } });
const endpoint = { host: "192.0.2.7", port: 6443 };

describe("a move", () => {
  test.for<[string, string, Member, boolean, RegExp]>([
    [
      "MOVE_CONTROL_PLANE_STAYS",
      "an embedded control plane",
      plane("Embedded", { endpoint }),
      true,
      /192\.0\.2\.7:6443/,
    ],
    ["MOVE_CONTROL_PLANE_STAYS", "one of processes", plane("Process", { endpoint }), true, /disk of the host/],
    ["MOVE_CONTROL_PLANE_STAYS", "one that has no runtime yet", plane(undefined), true, /an address of that host/],
    ["MOVE_CONTROL_PLANE_STAYS", "one as pods, unless it may", plane("Pods"), false, /run by two management clusters/],
    [
      "MOVE_OBJECT_DELETED",
      "what is being deleted",
      member("Machine", {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
      true,
      /being deleted/,
    ],
    [
      "MOVE_UNDER_WAY",
      "what moves elsewhere",
      member("Cluster", {}, { annotations: { [marks.target]: "another" } }),
      true,
      /another management cluster/,
    ],
  ])("is refused with %s for %s", ([code, , given, handsOver, message]) => {
    const refusing = (): void => refuseUnmovable([given], "there", handsOver);
    expect(refusing).toThrow(message);
    expect(refusing).toThrow(expect.objectContaining({ code }) as Error);
  });

  test("is not refused for a control plane as pods that is handed over", () => {
    expect(() => refuseUnmovable([plane("Pods")], "there", true)).not.toThrow();
  });
});
