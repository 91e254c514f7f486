/** What the durability test writes: several kinds, in two logical clusters. */

/** A payload that shows whether an object is whole: the serial is at both ends, and gives the length between. */
interface Payload {
  readonly labels: { readonly parity: string };
  readonly annotations: { readonly first: string; readonly pad: string; readonly last: string };
}

export interface Collection {
  readonly cluster: "" | "blue";
  /** Path of the collection. */
  readonly path: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** Fields in addition to metadata. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const BLUE = "/clusters/blue";
const NAMESPACED = "/api/v1/namespaces/default";
const SERVICE = { spec: { type: "NodePort", ports: [{ port: 80, protocol: "TCP" }] } };

export const COLLECTIONS: readonly Collection[] = [
  { cluster: "", path: `${NAMESPACED}/configmaps`, apiVersion: "v1", kind: "ConfigMap", fields: { data: { a: "b" } } },
  { cluster: "", path: `${NAMESPACED}/services`, apiVersion: "v1", kind: "Service", fields: SERVICE },
  {
    cluster: "",
    path: "/apis/example.com/v1/namespaces/default/gadgets",
    apiVersion: "example.com/v1",
    kind: "Gadget",
    fields: { spec: { size: "small" } },
  },
  { cluster: "blue", path: `${BLUE}${NAMESPACED}/secrets`, apiVersion: "v1", kind: "Secret", fields: {} },
  { cluster: "blue", path: `${BLUE}${NAMESPACED}/services`, apiVersion: "v1", kind: "Service", fields: SERVICE },
  {
    cluster: "blue",
    path: `${BLUE}/apis/coordination.k8s.io/v1/namespaces/default/leases`,
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    fields: { spec: { holderIdentity: "no-holder" } },
  },
];

export const GADGETS = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gadgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties: { size: { type: "string" } } } },
          },
        },
      },
    ],
  },
};

/** What the metadata of a write says in addition to the name. */
export function payload(serial: number): Payload {
  const annotations = { first: String(serial), pad: "x".repeat(padding(serial)), last: String(serial) };
  return { labels: { parity: serial % 2 === 0 ? "even" : "odd" }, annotations };
}

/** The serial of an object that is whole; undefined when it is not. */
export function serialOf(object: Observed): number | undefined {
  const { labels, annotations } = object.metadata;
  const serial = Number(annotations?.["first"]);
  const expected = payload(serial);
  const same = (["first", "pad", "last"] as const).every((k) => annotations?.[k] === expected.annotations[k]);
  return same && labels?.["parity"] === expected.labels.parity ? serial : undefined;
}

function padding(serial: number): number {
  return 100 + ((serial * 37) % 1900);
}

/** The fields that the test reads of an object of the API. */
export interface Observed {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly clusterIP?: string;
    readonly ports?: readonly { readonly nodePort?: number }[];
  };
}
