import { expect } from "vitest";
import type { CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { at, done, made } from "./shorthands.ts";
import { OTHERS } from "./standard-others.ts";
import { WORKLOADS, type Standard } from "./standard-workloads.ts";

/** Where objects of a kind are. */
export function collection(c: Context, kind: Pick<Standard, "apiVersion" | "plural" | "clusterScoped">): string {
  const root = kind.apiVersion === "v1" ? "/api/v1" : `/apis/${kind.apiVersion}`;
  return `${root}${kind.clusterScoped ? "" : `/namespaces/${c.namespace}`}/${kind.plural}`;
}

function isFilledIn(standard: Standard): ContractCase {
  const { apiVersion, kind, variant = "", given, wanted, generation } = standard;
  return {
    name: `a ${[kind, variant].join(" ").trim()} of ${apiVersion} gets its defaults`,
    async run(c) {
      const name = standard.clusterScoped ? c.unique("standard") : "x";
      const path = collection(c, standard);
      const body = await made(c.api.post(path, { apiVersion, kind, metadata: { name }, ...given }));
      const { metadata, ...rest } = body;
      const { finalizers: _finalizers, ...known } = metadata as Json;
      expect(rest).toEqual({ apiVersion, kind, ...wanted });
      expect(known["generation"]).toBe(generation);
      // Writing what is there already changes nothing, but that claims take up what admission added; quotas are counted
      // meanwhile.
      if (kind === "PersistentVolumeClaim" || kind === "ResourceQuota") return;
      const again = await done(c.api.put(`${path}/${name}`, body));
      expect(at(again, "metadata", "resourceVersion")).toBe(known["resourceVersion"]);
    },
  };
}

const POD: Json = {
  containers: [
    {
      name: "c",
      image: "registry:5000/i@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
      ports: [{ containerPort: 80 }],
      env: [
        { name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "B", value: "" },
        { name: "C", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
      ],
      livenessProbe: { httpGet: { port: 80 } },
      readinessProbe: { tcpSocket: { port: "x" } },
      startupProbe: { grpc: { port: 1 } },
      resources: { limits: { cpu: "0.5", memory: "0.1Gi" }, requests: { cpu: "0.1" } },
    },
  ],
  initContainers: [{ name: "i", image: "i:1", resources: { limits: { cpu: "1000m", memory: "2048Mi" } } }],
  volumes: [
    { name: "s", secret: { secretName: "x" } },
    { name: "e" },
    { name: "c", configMap: { name: "x" } },
    { name: "h", hostPath: { path: "/x" } },
    { name: "p", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
  ],
};

const SAID = { terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "File" };
const PROBE = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

const FILLED_POD: Json = {
  containers: [
    {
      ...SAID,
      name: "c",
      image: "registry:5000/i@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
      imagePullPolicy: "IfNotPresent",
      ports: [{ containerPort: 80, protocol: "TCP" }],
      env: [
        { name: "A", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } },
        { name: "B" },
        { name: "C", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "0" } } },
      ],
      livenessProbe: { ...PROBE, httpGet: { port: 80, path: "/", scheme: "HTTP" } },
      readinessProbe: { ...PROBE, tcpSocket: { port: "x" } },
      startupProbe: { ...PROBE, grpc: { port: 1, service: "" } },
      resources: { limits: { cpu: "500m", memory: "107374182400m" }, requests: { cpu: "100m" } },
    },
  ],
  initContainers: [
    {
      ...SAID,
      name: "i",
      image: "i:1",
      imagePullPolicy: "IfNotPresent",
      resources: { limits: { cpu: "1", memory: "2Gi" } },
    },
  ],
  volumes: [
    { name: "s", secret: { secretName: "x", defaultMode: 420 } },
    { name: "e", emptyDir: {} },
    { name: "c", configMap: { name: "x", defaultMode: 420 } },
    { name: "h", hostPath: { path: "/x", type: "" } },
    {
      name: "p",
      projected: { defaultMode: 420, sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 3600 } }] },
    },
  ],
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  securityContext: {},
  schedulerName: "default-scheduler",
};

/** [as written, as returned]: resource.Quantity's canonical form. */
const QUANTITIES = [
  ["1000m", "1"],
  ["0.5", "500m"],
  ["1500", "1500"],
  ["1000", "1k"],
  ["2048Mi", "2Gi"],
  ["1023Mi", "1023Mi"],
  ["0.5Gi", "512Mi"],
  ["1000Ki", "1000Ki"],
  ["1e3", "1e3"],
  ["12E2", "1200"],
  ["0.0001", "1m"],
  ["100u", "1m"],
  ["1.5k", "1500"],
  ["0", "0"],
  ["00.10", "100m"],
  ["1000000Mi", "1000000Mi"],
  ["1024Ki", "1Mi"],
  ["5000M", "5G"],
  [7, "7"],
] as const;

export const defaults: CaseGroup = {
  title: "defaults of built-in kinds",
  cases: [
    ...WORKLOADS.map(isFilledIn),
    ...OTHERS.map(isFilledIn),
    {
      name: "a pod's template is filled in as deep as it goes",
      async run(c) {
        const template = { metadata: { labels: { a: "b" } }, spec: POD };
        const body = await made(
          c.api.post(c.core("podtemplates"), {
            apiVersion: "v1",
            kind: "PodTemplate",
            metadata: { name: "x" },
            template,
          }),
        );
        expect(at(body, "template", "spec")).toEqual(FILLED_POD);
      },
    },
    ...QUANTITIES.map(([written, canonical]): ContractCase => ({
      name: `a quantity ${JSON.stringify(written)} is returned as ${canonical}`,
      async run(c) {
        const spec = { hard: { "requests.example.com/x": 1, memory: written } };
        const body = await made(
          c.api.post(c.core("resourcequotas"), {
            apiVersion: "v1",
            kind: "ResourceQuota",
            metadata: { name: "x" },
            spec,
          }),
        );
        expect(at(body, "spec", "hard", "memory")).toBe(canonical);
      },
    })),
  ],
};
