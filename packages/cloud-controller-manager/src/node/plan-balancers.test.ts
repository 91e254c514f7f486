import { describe, expect, test } from "vitest";
import type { Node } from "@causeway/kubernetes";
import { defaultCloudConfig } from "../config/config.ts";
import { aNode, aServer } from "../testing/objects.ts";
import { plan } from "./plan.ts";
import { uninitializedTaint } from "./taints.ts";

const excluded = { "node.kubernetes.io/exclude-from-external-load-balancers": "" };

/** The annotation that the plan writes. */
function said(node: Node, hasLeft: boolean | undefined, followNodes = true): string | null | undefined {
  const config = defaultCloudConfig();
  const { steps } = plan(
    {
      node,
      servers: [aServer("n1")],
      ports: [],
      trunked: [],
      flavor: undefined,
      region: "",
      denials: 0,
      doubtful: false,
      duties: { initialise: true, lifecycle: true },
      config: { ...config, loadBalancer: { ...config.loadBalancer, followNodes } },
      hasLeft,
    },
    0,
  );
  return steps.flatMap((step) =>
    step.type === "set-node" && step.annotations ? [step.annotations["causeway.dev/load-balancers"]] : [],
  )[0];
}

describe("a Node says of load balancers", () => {
  const node = (changes: Parameters<typeof aNode>[1], before?: string): Node => {
    const made = aNode("n1", changes);
    const annotations = before === undefined ? {} : { "causeway.dev/load-balancers": before };
    const addresses = [
      { type: "InternalIP" as const, address: "10.0.0.1" },
      { type: "Hostname" as const, address: "n1" },
    ];
    return { ...made, metadata: { ...made.metadata, annotations }, status: { addresses } };
  };
  test.each<[string, Node, boolean | undefined, string | undefined]>([
    ["that it may be a member, from its initialisation on", node({ taints: [uninitializedTaint] }), false, "in"],
    ["that it may be a member although it is none yet", node({}), true, "in"],
    ["nothing new while that holds", node({}, "in"), false, undefined],
    ["that it is in until all have been seen without it", node({ labels: excluded }), false, "in"],
    ["that it is out once it is excluded and has left", node({ labels: excluded }, "in"), true, "out"],
    [
      "that it is out once the autoscaler removes it",
      node({ taints: ["ToBeDeletedByClusterAutoscaler"] }, "in"),
      true,
      "out",
    ],
    [
      "nothing new while it is excluded and not known to have left again",
      node({ labels: excluded }, "out"),
      false,
      undefined,
    ],
    ["that it is in again once it is not excluded", node({}, "out"), true, "in"],
    ["nothing where another process follows Nodes", node({}), undefined, undefined],
    ["nothing new where another process follows Nodes", node({}, "in"), undefined, undefined],
  ])("%s", (_, given, hasLeft, expected) => expect(said(given, hasLeft)).toBe(expected));

  test("no more once Nodes are not followed, for Machines would wait for it", () => {
    expect(said(node({}, "in"), undefined, false)).toBeNull();
    expect(said(node({ labels: excluded }, "out"), undefined, false)).toBeNull();
    expect(said(node({}), undefined, false)).toBeUndefined();
  });
});
