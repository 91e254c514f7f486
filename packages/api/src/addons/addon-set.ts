import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column, conditionColumn } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { application, argoCD } from "./argo-cd.ts";
import { defineKind } from "../schema/define.ts";
import {
  checked,
  conditions,
  flag,
  immutable,
  int32,
  int64,
  labelSelector,
  list,
  listByKey,
  mapOf,
  object,
  oneOf,
  optional,
  setOf,
  text,
} from "../schema/fields.ts";

/** Add-ons whose manifests Causeway has. */
export const CATALOGUE_ADDONS = [
  "KubeProxy",
  "CoreDNS",
  "TunnelAgent",
  "CinderCSINode",
  "Flannel",
  "APIProxy",
  "MetricsServer",
] as const;

const name = (description: string) =>
  text(1, 63, { pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", description: `${description} A DNS label.` });

const address = { pattern: "^[0-9A-Za-z.:-]+$" };

const catalogue = object(
  {
    name: oneOf(CATALOGUE_ADDONS, {
      description:
        "Which of the built-in add-ons. MetricsServer is for control planes of runtime Process or Pods with a tunnel or a route to Services; it needs kubelets whose certificates are of the cluster's authority (serverTLSBootstrap).",
    }),
    image: optional(text(1, 512, { description: "Image in place of the built-in one." })),
    imagePrefix: optional(
      text(1, 400, {
        pattern: "^[0-9A-Za-z][0-9A-Za-z._:/-]*$",
        description:
          'Registry and path in place of the built-in ones, such as "registry.example.org/mirror": the image is PREFIX/kube-proxy:VERSION.',
      }),
    ),
    replicas: optional(
      int32({ minimum: 1, maximum: 20, description: "Pods of CoreDNS (default 2) or of MetricsServer (default 1)." }),
    ),
    proxyMode: optional(
      oneOf(["nftables", "iptables"], {
        description: "KubeProxy: how it leads Services to pods. Nodes of one cluster may have both. Default nftables.",
      }),
    ),
    nodeSelector: optional(
      mapOf(text(0, 63), { maxProperties: 8, description: "KubeProxy: it runs on nodes with these labels only." }),
    ),
    nodeAddress: optional(
      text(1, 45, {
        ...address,
        description: "APIProxy: the address of Service kubernetes' endpoint, which each node gets. Default 198.18.0.1.",
      }),
    ),
    addressImage: optional(
      text(1, 512, { description: "APIProxy: image with the command ip, which gives the node that address." }),
    ),
    tunnelServer: optional(
      text(1, 253, { ...address, description: "TunnelAgent: host of the tunnel's servers. Required for it." }),
    ),
    tunnelPort: optional(
      int32({ minimum: 1, maximum: 65535, description: "TunnelAgent: port of the tunnel's servers. Default 8091." }),
    ),
    tunnelAuthority: optional(
      text(1, 65_536, { description: "TunnelAgent: PEM certificates of the authority of the servers' certificate." }),
    ),
  },
  { description: "A built-in add-on: its manifests follow the cluster's version, networks and endpoint." },
);

const probe = object({
  type: oneOf(["DNS", "Dial"], {
    description: "DNS: a question over TCP has an answer. Dial: a connection is made.",
  }),
  host: text(1, 253, { ...address, description: "Address inside the cluster, dialled as the API server dials nodes." }),
  port: int32({ minimum: 1, maximum: 65535, description: "Port that is dialled." }),
  question: optional(
    text(1, 253, { pattern: "^[0-9A-Za-z._-]+$", description: "DNS: the name whose A records are requested." }),
  ),
});

const addon = checked(
  object({
    name: name("Name of the add-on."),
    wave: optional(
      int32({
        minimum: -1000,
        maximum: 1000,
        default: 0,
        description: "Add-ons of a lower wave are installed first, and the next wave begins when they are healthy.",
      }),
    ),
    manifests: optional(
      text(1, 1_000_000, { description: "YAML documents: manifests, Kustomize output or a rendered Helm chart." }),
    ),
    sources: optional(
      list(
        object({
          kind: oneOf(["ConfigMap", "Secret"], { description: "Kind of the source." }),
          name: text(1, 253, {
            description:
              'Its name, in the namespace of the AddonSet. It has the label addons.causeway.dev/source: "true"; each of its values is a text of YAML documents.',
          }),
        }),
        { max: 16, description: "More manifests, read in this order." },
      ),
    ),
    catalogue: optional(catalogue),
    application: optional(application),
    mayChange: optional(
      list(
        object({
          kind: text(1, 63, { description: 'Kind of the objects, such as "Deployment".' }),
          name: optional(text(1, 253, { description: "Name of one object. Default: all of the kind." })),
          field: text(1, 512, {
            pattern: "^[A-Za-z][A-Za-z0-9-]*([.][A-Za-z][A-Za-z0-9-]*|\\[[a-z0-9-]+\\])*$",
            description: 'The field, such as "spec.replicas" or "spec.template.spec.containers[coredns].resources".',
          }),
        }),
        { max: 50, description: "Fields that users of the cluster may change: they are not reverted." },
      ),
    ),
    probes: optional(list(probe, { max: 8, description: "Proofs that the add-on works. All of them must succeed." })),
  }),
  [
    {
      rule: "has(self.manifests) || has(self.sources) || has(self.catalogue) || has(self.application)",
      message: "an add-on needs manifests, sources, catalogue or application",
    },
    {
      rule: "!has(self.application) || !(has(self.manifests) || has(self.sources) || has(self.catalogue) || has(self.mayChange))",
      message: "an add-on with application has no manifests, sources, catalogue or mayChange: Argo CD applies it",
    },
  ],
);

const addonSetSpec = object({
  clusterName: optional(
    immutable(name("The Cluster, in the namespace of the AddonSet, that the add-ons are applied to.")),
  ),
  clusterSelector: optional(labelSelector),
  addons: listByKey(addon, ["name"], { max: 64, description: "The add-ons." }),
  argoCD: optional(argoCD),
  protect: optional(
    flag({
      description:
        "A ValidatingAdmissionPolicy in the cluster refuses deletions of the objects, unless an object has the annotation addons.causeway.dev/allow-deletion.",
    }),
  ),
  deletionPolicy: optional(
    oneOf(["Keep", "Delete"], {
      default: "Keep",
      description:
        "What becomes of the objects when the AddonSet is deleted. Namespaces, CRDs and volumes are kept always.",
    }),
  ),
});

checked(addonSetSpec, [
  {
    rule: "has(self.clusterName) != has(self.clusterSelector)",
    message: "an AddonSet is of one Cluster (clusterName) or of all that match (clusterSelector): set one of the two",
  },
  {
    rule: "has(self.clusterName) == has(oldSelf.clusterName)",
    message: "clusterName and clusterSelector cannot replace each other: create another AddonSet",
  },
  {
    rule: "has(self.argoCD) || self.addons.all(each, !has(each.application))",
    message: "an add-on with application needs argoCD, which names the namespace of Argo CD",
  },
]);

const reference = object({
  apiVersion: text(1, 317, { description: "Group and version." }),
  kind: text(1, 63, { description: "Kind." }),
  namespace: optional(text(1, 63, { description: "Namespace; none for objects of the cluster." })),
  name: text(1, 253, { description: "Name." }),
});

const addonSetStatus = object({
  conditions: conditions(),
  observedGeneration: optional(int64({ minimum: 1 })),
  version: optional(
    text(1, 64, { description: "The control plane's Kubernetes version, which built-in add-ons follow." }),
  ),
  addons: optional(
    listByKey(
      object({
        name: text(1, 63, { description: "Name of the add-on." }),
        state: oneOf(["Waiting", "Applying", "Applied", "Unhealthy", "Failed"], {
          description: "Applied: every object is as declared, and the add-on works.",
        }),
        message: optional(text(0, 4096, { description: "Why it is so." })),
        code: optional(text(1, 64, { description: "The code of the error that the message is about." })),
        digest: optional(text(1, 64, { description: "Fingerprint of the manifests that were applied completely." })),
        objects: optional(
          list(reference, { max: 1000, description: "What was applied: the base of what is pruned later." }),
        ),
      }),
      ["name"],
      { max: 128, description: "State of each add-on." },
    ),
  ),
  clusters: optional(
    object(
      {
        selected: int32({ description: "How many there are." }),
        applied: int32({ description: "In how many every object is as declared." }),
        healthy: int32({ description: "In how many every add-on works." }),
      },
      { description: "With clusterSelector: its clusters, each of which has an AddonSet of its own." },
    ),
  ),
  failing: optional(
    setOf(text(1, 63), {
      max: 64,
      description: "Names of add-ons that are not as they should be; with clusterSelector, of clusters.",
    }),
  ),
});

/** What the components of a cluster are to be. */
export type AddonSetSpec = Static<typeof addonSetSpec>;
/** What of them was applied, and what is wrong with each. */
export type AddonSetStatus = Static<typeof addonSetStatus>;
/** Declared add-ons of one workload cluster, kept as declared. */
export type AddonSet = Resource<AddonSetSpec, AddonSetStatus>;

/** Its kind, for clients and for the CRD: v1alpha1. */
export const AddonSet: Kind<AddonSet> = defineKind({
  group: "addons.causeway.dev",
  version: "v1alpha1",
  kind: "AddonSet",
  description: "Declared add-ons of one workload cluster, kept as declared.",
  columns: [
    column("Cluster", ".spec.clusterName"),
    conditionColumn("Applied", "Applied"),
    conditionColumn("Healthy", "Healthy"),
    column("Failing", ".status.failing"),
    age,
  ],
  spec: addonSetSpec,
  status: addonSetStatus,
}) as Kind<AddonSet>;
