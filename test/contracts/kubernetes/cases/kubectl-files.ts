import type { Json } from "../interface.ts";

const LABELS = { app: "web" };

function deployment(image: string): Json {
  const spec = { containers: [{ name: "web", image, ports: [{ containerPort: 80 }] }] };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: { replicas: 2, selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS }, spec } },
  };
}

/** Gears: a custom kind in a group of the case's own. */
function gears(group: string): Json {
  const teeth = { type: "integer", description: "How many teeth.", minimum: 3 };
  const parts = { type: "array", items: { type: "string" } };
  const spec = {
    type: "object",
    description: "What is wanted.",
    required: ["teeth"],
    properties: { teeth, replicas: { type: "integer" }, parts },
  };
  const status = { type: "object", properties: { replicas: { type: "integer" } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `gears.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "gears", singular: "gear", kind: "Gear", shortNames: ["gr"], categories: ["all"] },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
          additionalPrinterColumns: [{ name: "Teeth", type: "integer", jsonPath: ".spec.teeth" }],
          schema: { openAPIV3Schema: { type: "object", description: "A Gear turns.", properties: { spec, status } } },
        },
      ],
    },
  };
}

function configMap(labels: string, more = ""): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n  labels: {a: ${labels}}\ndata:\n  color: red\n${more}`;
}

const MANY = `apiVersion: v1
kind: ConfigMap
metadata: {name: m1}
---
apiVersion: v1
kind: Secret
metadata: {name: m2}
stringData: {a: b}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: m3}
`;

const POD: Json = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  spec: {
    automountServiceAccountToken: false,
    containers: [{ name: "c", image: "i", env: [{ name: "A", value: "1" }] }],
  },
};

const INGRESS: Json = {
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name: "ing" },
  spec: { rules: [{ host: "a.example.com", http: { paths: [] } }], defaultBackend: service() },
};

function service(): Json {
  return { service: { name: "svc", port: { number: 80 } } };
}

const JOB: Json = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "job" },
  spec: {
    manualSelector: true,
    selector: { matchLabels: { j: "1" } },
    template: {
      metadata: { labels: { j: "1" } },
      spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] },
    },
  },
};

/** What the scripts hand to kubectl, by file name. */
export function filesOf(namespace: string): Readonly<Record<string, string>> {
  const group = `${namespace}.example.com`;
  const gear = (name: string, spec: Json): Json => ({
    apiVersion: `${group}/v1`,
    kind: "Gear",
    metadata: { name },
    spec,
  });
  const path = { path: "/", pathType: "Prefix", backend: service() };
  const ingress = { ...INGRESS, spec: { rules: [{ host: "a.example.com", http: { paths: [path] } }] } };
  const json = {
    "web.json": deployment("nginx:1.27"),
    "web2.json": deployment("nginx:1.28"),
    "pod.json": POD,
    "ing.json": ingress,
    "job.json": JOB,
    "crd.json": gears(group),
    "gear.json": gear("g", { teeth: 5, replicas: 1 }),
    "blunt.json": gear("blunt", { teeth: 1 }),
  };
  return {
    ...Object.fromEntries(Object.entries(json).map(([name, object]) => [name, JSON.stringify(object)])),
    "cm.yaml": configMap("b"),
    "cm2.yaml": configMap("c", "  size: big\n"),
    "bad.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: bad\ndatum:\n  a: b\n",
    "many.yaml": MANY,
  };
}
