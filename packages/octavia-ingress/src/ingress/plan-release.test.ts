import type { FloatingIp, LoadBalancer, SecurityGroup } from "@causeway/openstack";
import { describe, expect, test } from "vitest";
import { LOST_FOR } from "../balancer/plan-earlier.ts";
import { annotation, certificateName, FINALIZER, ingressOwner } from "../names.ts";
import type { Ingress } from "../objects/ingress.ts";
import { releaseOf, uncertainUntil, type LeavingIngress, type OwnResources } from "./plan-release.ts";

const NOW = 1_000_000;
const NOTHING: OwnResources = { loadBalancers: [], certificates: [], floatingIps: [], securityGroups: [] };

function leaving(
  name: string,
  own: Partial<OwnResources> | undefined,
  given: Partial<LeavingIngress> = {},
): LeavingIngress {
  const ingress: Ingress = {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, namespace: "n", uid: name, finalizers: [FINALIZER] },
    spec: {},
  };
  const owner = ingressOwner("demo", { name, namespace: "n", uid: name });
  return { ingress, owner, uncertainUntil: 0, own: own && { ...NOTHING, ...own }, ...given };
}

const owner = ingressOwner("demo", { name: "web", namespace: "n", uid: "web" });
const another = ingressOwner("demo", { name: "shop", namespace: "n", uid: "shop" });
const balancerOf = ({ name, tag }: typeof owner): LoadBalancer => ({ id: "lb", name, tags: [tag] }) as LoadBalancer;
const addressOf = ({ floatingIpDescription }: typeof owner): FloatingIp =>
  ({ id: "ip", description: floatingIpDescription }) as FloatingIp;
const keeping = leaving("web", undefined).ingress;
const keepsAddress: Ingress = {
  ...keeping,
  metadata: { ...keeping.metadata, annotations: { [annotation.keepFloatingIp]: "true" } },
};

describe("an Ingress that leaves a shared load balancer", () => {
  test.each<[title: string, given: LeavingIngress, expected: "released" | number]>([
    ["goes when it has nothing of its own", leaving("web", {}), "released"],
    ["waits for its own load balancer", leaving("web", { loadBalancers: [balancerOf(owner)] }), NOW + 15_000],
    [
      "does not wait for a load balancer of another owner",
      leaving("web", { loadBalancers: [balancerOf(another)] }),
      "released",
    ],
    [
      "waits for its own certificates",
      leaving("web", { certificates: [{ name: certificateName(owner, "tls", "0123456789abcdef") }] }),
      NOW + 15_000,
    ],
    [
      "does not wait for certificates of another owner",
      leaving("web", { certificates: [{ name: certificateName(another, "tls", "0123456789abcdef") }] }),
      "released",
    ],
    ["waits for its own floating IP", leaving("web", { floatingIps: [addressOf(owner)] }), NOW + 15_000],
    [
      "does not wait for a floating IP of another owner",
      leaving("web", { floatingIps: [addressOf(another)] }),
      "released",
    ],
    [
      "does not wait for a floating IP that it keeps",
      leaving("web", { floatingIps: [addressOf(owner)] }, { ingress: keepsAddress }),
      "released",
    ],
    [
      "waits for its own security group",
      leaving("web", { securityGroups: [{ id: "group" } as SecurityGroup] }),
      NOW + 15_000,
    ],
    [
      "waits until a create for it must have been listed",
      leaving("web", undefined, { uncertainUntil: NOW + 7_000 }),
      NOW + 7_000,
    ],
  ])("%s", (_title, given, expected) => {
    expect(releaseOf([given], NOW)).toEqual(
      expected === "released" ? { released: [given.ingress], blocked: undefined } : { released: [], blocked: expected },
    );
  });

  test("goes although another waits, and the next reading is when the first of them may go", () => {
    const free = leaving("free", {});
    const early = leaving("early", undefined, { uncertainUntil: NOW + 2_000 });
    const late = leaving("late", { securityGroups: [{ id: "group" } as SecurityGroup] });
    expect(releaseOf([late, free, early], NOW)).toEqual({ released: [free.ingress], blocked: NOW + 2_000 });
  });
});

describe("a create that no list shows", () => {
  test.each<[title: string, backoff: number | undefined, isFresh: boolean, expected: number]>([
    ["may be an earlier process's for ten seconds", undefined, false, NOW + LOST_FOR],
    ["cannot be an earlier process's where that had no finalizer", undefined, true, 0],
    ["may be this process's until its back-off ends", NOW + 60_000, true, NOW + 60_000],
    ["may be either's until the later time", NOW + 3_000, false, NOW + LOST_FOR],
  ])("%s", (_title, backoff, isFresh, expected) => {
    expect(uncertainUntil(backoff, { began: NOW, isFresh })).toBe(expected);
  });
});
