import type { Cluster } from "@causeway/api";
import { describe, expect, test } from "vitest";
import { networkProblem } from "./networks.ts";
import { plan } from "./plan.ts";
import { observedWith } from "./testing/observed.ts";

const now = Date.UTC(2026, 0, 1);

function clusterWith(pods: readonly string[] | undefined, services: readonly string[] | undefined): Cluster {
  const blocks = (cidrBlocks: readonly string[] | undefined) => cidrBlocks && { cidrBlocks: [...cidrBlocks] };
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { namespace: "team", name: "web" },
    spec: { clusterNetwork: { pods: blocks(pods), services: blocks(services) } },
  } as Cluster;
}

describe("the networks of a hosted control plane", () => {
  const of = "spec.clusterNetwork of Cluster team/web: ";
  test.each<
    [string, pods: readonly string[] | undefined, services: readonly string[] | undefined, message: string | undefined]
  >([
    ["are accepted when they are apart", ["10.244.0.0/16"], ["10.97.0.0/16"], undefined],
    ["are accepted when none is declared", undefined, undefined, undefined],
    [
      "are accepted for both address families",
      ["10.244.0.0/16", "fd01::/48"],
      ["10.97.0.0/16", "fd02::/112"],
      undefined,
    ],
    [
      "are refused when one contains the other",
      ["10.0.0.0/8"],
      ["10.97.0.0/16"],
      "10.97.0.0/16 of services and 10.0.0.0/8 of pods overlap",
    ],
    [
      "are refused when only the second family overlaps",
      ["10.244.0.0/16", "fd02::/16"],
      ["10.97.0.0/16", "fd02:0:0:1::/112"],
      "fd02:0:0:1::/112 of services and fd02::/16 of pods overlap",
    ],
    [
      "are refused when pods have addresses of the default network of services",
      ["10.100.0.0/16"],
      undefined,
      "10.96.0.0/12 of services (the default) and 10.100.0.0/16 of pods overlap",
    ],
    [
      "are refused when an empty list of services means the default network, which pods have",
      ["10.100.0.0/16"],
      [],
      "10.96.0.0/12 of services (the default) and 10.100.0.0/16 of pods overlap",
    ],
    [
      "are refused with two addresses for services",
      undefined,
      ["10.254.0.0/31"],
      "10.254.0.0/31 of services is not an IPv4 network of /8 to /30, nor one of IPv6 of /64 to /126",
    ],
    [
      "are refused with a prefix that is too long",
      undefined,
      ["10.97.0.0/33"],
      '"10.97.0.0/33" of services is not a network such as 10.97.0.0/16',
    ],
    [
      "are refused without a prefix",
      ["10.244.0.0"],
      ["10.97.0.0/16"],
      '"10.244.0.0" of pods is not a network such as 10.97.0.0/16',
    ],
  ])("%s", (_, pods, services, message) => {
    const problem = networkProblem(clusterWith(pods, services));
    if (message === undefined) return expect(problem).toBeUndefined();
    expect(problem).toEqual({ code: "CONTROL_PLANE_NETWORK_INVALID", message: of + message, actor: "user" });
  });

  const overlapping = clusterWith(["10.244.0.0/16"], ["10.244.128.0/17"]);

  test("that overlap stop a new one before its first object, and the condition says who must act", () => {
    const { steps, status } = plan(observedWith(overlapping, { roots: {} }), now);
    expect(steps).toEqual([]);
    expect(status.conditions).toContainEqual(
      expect.objectContaining({
        type: "Available",
        status: "False",
        reason: "SpecRefused",
        message: `${of}10.244.128.0/17 of services and 10.244.0.0/16 of pods overlap; change the object (CONTROL_PLANE_NETWORK_INVALID)`,
      }),
    );
    const corrected = clusterWith(["10.244.0.0/16"], ["10.97.0.0/16"]);
    expect(plan(observedWith(corrected), now).steps.map(({ type }) => type)).toEqual(["run"]);
  });

  test("that overlap stop none that was started with them", () => {
    const { steps } = plan(observedWith(overlapping, { initialized: true }), now);
    expect(steps.map(({ type }) => type)).toEqual(["run"]);
  });

  test("that overlap do not hold back the deletion", () => {
    const observed = observedWith(overlapping);
    const metadata = { ...observed.object.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    const { steps } = plan({ ...observed, object: { ...observed.object, metadata } }, now);
    expect(steps.map(({ type }) => type)).toEqual(["remove-finalizer"]);
  });
});
