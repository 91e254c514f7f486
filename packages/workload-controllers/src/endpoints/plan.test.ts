import { describe, expect, test } from "vitest";
import type { Endpoints, Pod, Service } from "@causeway/kubernetes";
import { at, pod as basicPod, type PodFacts } from "../testing/objects.ts";
import { plan } from "./plan.ts";

const service = (spec: Partial<Service["spec"]> = {}): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "default", uid: "service", labels: { team: "x" } },
  spec: {
    selector: { app: "web" },
    clusterIP: "10.96.0.1",
    ipFamilies: ["IPv4"],
    ports: [{ port: 80, targetPort: 8080 }],
    ...spec,
  },
});
const pod = (name: string, ip: string, facts: PodFacts = {}): Pod => {
  const base = basicPod(name, facts);
  return { ...base, status: { ...base.status, podIPs: [{ ip }] } };
};
const key = { namespace: "default", name: "web" };
const planned = (object: Service, pods: readonly Pod[]) => {
  const [step] = plan({ key, service: object, pods, endpoints: undefined }).steps;
  if (step?.type !== "create-endpoints") throw new Error("no Endpoints");
  return step.endpoints;
};
const ips = (list: readonly { ip: string }[] = []) => list.map(({ ip }) => ip);

describe("Endpoints of a Service", () => {
  test("list ready and unready addresses in order, with the Service's labels", () => {
    const pods = [
      pod("b", "10.0.0.10"),
      pod("a", "10.0.0.9"),
      pod("c", "10.0.0.1", { ready: undefined }),
      pod("d", "10.0.0.2", { deleted: true }),
    ];
    const { subsets, metadata } = planned(service(), pods);
    expect(metadata.labels).toEqual({ team: "x", "endpoints.kubernetes.io/managed-by": "endpoint-controller" });
    expect(subsets).toHaveLength(1);
    expect(ips(subsets?.[0]?.addresses)).toEqual(["10.0.0.9", "10.0.0.10"]);
    expect(ips(subsets?.[0]?.notReadyAddresses)).toEqual(["10.0.0.1"]);
    expect(subsets?.[0]?.ports).toEqual([{ port: 8080, protocol: "TCP" }]);
  });

  test("publish addresses of pods that are not ready where the Service says so", () => {
    const { subsets } = planned(service({ publishNotReadyAddresses: true }), [
      pod("a", "10.0.0.1", { ready: undefined, deleted: true }),
    ]);
    expect(ips(subsets?.[0]?.addresses)).toEqual(["10.0.0.1"]);
  });

  test("are cut to 1,000 addresses, ready ones first, and say so", () => {
    const many = (from: number, count: number, facts: PodFacts) =>
      Array.from({ length: count }, (_, i) =>
        pod(`p${from + i}`, `10.1.${(from + i) >> 8}.${(from + i) & 255}`, facts),
      );
    const { subsets, metadata } = planned(service(), [...many(0, 900, {}), ...many(900, 300, { ready: undefined })]);
    expect(metadata.annotations).toEqual({ "endpoints.kubernetes.io/over-capacity": "truncated" });
    expect(subsets?.[0]?.addresses).toHaveLength(900);
    expect(subsets?.[0]?.notReadyAddresses).toHaveLength(100);
  });

  test("are deleted with their Service, and left alone when nothing changed", () => {
    const endpoints = planned(service(), [pod("a", "10.0.0.1")]);
    const held = { ...endpoints, metadata: { ...endpoints.metadata, uid: "u" } };
    expect(plan({ key, service: service(), pods: [pod("a", "10.0.0.1")], endpoints: held }).steps).toEqual([]);
    expect(plan({ key, service: undefined, pods: [], endpoints: held }).steps).toMatchObject([
      { type: "delete-endpoints" },
    ]);
  });

  test("keep what others noted on them, and lose what is not true any more", () => {
    const over = "endpoints.kubernetes.io/over-capacity";
    const held = {
      ...planned(service(), []),
      metadata: {
        name: "web",
        namespace: "default",
        uid: "u",
        annotations: { note: "a", [over]: "truncated", "endpoints.kubernetes.io/last-change-trigger-time": "x" },
      },
    };
    const [step] = plan({ key, service: service(), pods: [pod("a", "10.0.0.1")], endpoints: held }).steps;
    expect(step).toMatchObject({
      type: "update-endpoints",
      endpoints: { apiVersion: "v1", kind: "Endpoints", metadata: { name: "web", namespace: "default", uid: "u" } },
    });
    expect(step?.type === "update-endpoints" && step.endpoints.metadata.annotations).toEqual({ note: "a" });
  });

  test("are headless by label as their Service is, whatever label that has itself", () => {
    const labelsOf = (clusterIP: string) => {
      const made = service({ clusterIP });
      const labels = { "service.kubernetes.io/headless": "mine" };
      return planned({ ...made, metadata: { ...made.metadata, labels } }, []).metadata.labels;
    };
    const manager = { "endpoints.kubernetes.io/managed-by": "endpoint-controller" };
    expect(labelsOf("None")).toEqual({ ...manager, "service.kubernetes.io/headless": "" });
    expect(labelsOf("10.96.0.1")).toEqual(manager);
    const { labels: _, ...metadata } = service().metadata;
    expect(planned({ ...service(), metadata }, []).metadata.labels).toEqual(manager);
  });

  test.each<[string, (held: Endpoints) => Endpoints]>([
    ["labels", (held) => ({ ...held, metadata: { ...held.metadata, labels: { team: "y" } } })],
    ["no labels", (held) => ({ ...held, metadata: { name: "web", namespace: "default" } })],
    ["addresses", (held) => ({ ...held, subsets: [] })],
    ["no addresses", ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata })],
    [
      "a mark that some are missing",
      (held) => ({
        ...held,
        metadata: { ...held.metadata, annotations: { "endpoints.kubernetes.io/over-capacity": "truncated" } },
      }),
    ],
  ])("are written again where a user changed them: %s", (_what, change) => {
    const pods = [pod("a", "10.0.0.1")];
    const held = change(planned(service(), pods));
    expect(plan({ key, service: service(), pods, endpoints: held }).steps).toMatchObject([
      { type: "update-endpoints" },
    ]);
  });

  test("are left alone without addresses where they have none, and go with a Service that is being deleted", () => {
    const { subsets: _, ...held } = planned(service(), []);
    expect(plan({ key, service: service(), pods: [], endpoints: held }).steps).toEqual([]);
    const leaving = { ...service(), metadata: { ...service().metadata, deletionTimestamp: at(1) } };
    const target = { namespace: "default", name: "web", uid: "" };
    expect(plan({ key, service: leaving, pods: [], endpoints: held }).steps).toEqual([
      { type: "delete-endpoints", target },
    ]);
    expect(plan({ key, service: leaving, pods: [], endpoints: undefined }).steps).toEqual([]);
  });
});
